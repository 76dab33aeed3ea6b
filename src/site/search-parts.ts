import { unescapeHtml } from '../kernel/text.ts';
import type { DocsPart } from '../protocol/docs-index.ts';

const EXCERPT = 160;

/** Entries of the reference and sections of guides, each starting with its heading. What is beside an entry is code. */
const parts =
  /<(article|section) class="(?:entry|part)[^"]*" id="(?<id>[^"]+)">.*?<(h[1-6])\b[^>]*>(?<title>.*?)<\/\3>(?<text>.*?)(?:<div class="shown">|<\/\1>)/gs;

/** The parts of a page of /docs that the search can find. @param html the page as written by the build or the service */
export function searchParts(path: string, page: string, html: string): DocsPart[] {
  return [...html.matchAll(parts)].map(({ groups: { id = '', title = '', text = '' } = {} }) => {
    // The first paragraph: the beginning of a table or of code tells nothing.
    const first = textOf(/<p\b(?! class="path")[^>]*>.*?<\/p>/s.exec(text)?.[0] ?? '');
    return {
      path: `${path}#${id}`,
      page,
      title: textOf(title),
      excerpt: first.length > EXCERPT ? `${first.slice(0, EXCERPT).replace(/\s+\S*$/, '')}…` : first,
      words: distinctWords(`${id} ${textOf(text)}`),
    };
  });
}

function textOf(html: string): string {
  return unescapeHtml(html.replaceAll(/<[^>]*>/g, (tag) => (/^<\/?(?:a|code|em|strong|span)\b/.test(tag) ? '' : ' ')))
    .replaceAll(/\s+/g, ' ')
    .trim();
}

function distinctWords(text: string): string {
  const words = text.toLowerCase().match(/[\p{L}\p{N}][^\s|"'“”’<>=()[\]{},;]*/gu) ?? [];
  return [...new Set(words.map((word) => word.replace(/[^\p{L}\p{N}]+$/u, '')))].join(' ');
}
