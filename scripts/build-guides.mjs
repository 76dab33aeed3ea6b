/** Builds the pages /docs/NAME from the documents listed in src/site/guides.json, complete except for what the service fills in when serving. */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Marked } from 'marked';

const root = fileURLToPath(new URL('..', import.meta.url));
const out = join(root, 'dist/web/docs');
const repository = process.env.SWITCHBOARD_REPOSITORY;

const escape = (text) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** @throws if a document in the list is missing */
export async function buildGuides() {
  const guides = JSON.parse(await readFile(join(root, 'src/site/guides.json'), 'utf8'));
  const shell = await readFile(join(out, 'index.html'), 'utf8');
  const names = new Set(guides.map(({ name }) => name));
  await mkdir(join(out, 'guides'), { recursive: true });
  for (const guide of guides) {
    const text = await readFile(join(root, `docs/${guide.name}.md`), 'utf8');
    const places = {
      title: escape(guide.title),
      about: escape(guide.about),
      languages: '',
      ...writeGuide(text, names),
    };
    const page = shell.replaceAll(/\{\{(\w+)\}\}/g, (place, name) => places[name] ?? place);
    await writeFile(join(out, `guides/${guide.name}.html`), page);
  }
  const left = (await readdir(join(out, 'guides'))).filter((file) => !names.has(file.replace(/\.html$/, '')));
  await Promise.all(left.map((file) => rm(join(out, 'guides', file))));
}

/**
 * @param {string} text a document of docs/
 * @param {Set<string>} names the names of the documents that are pages
 * @returns {{ parts: string, text: string }} the list of its headings, and its whole text
 */
export function writeGuide(text, names) {
  const marked = new Marked({ renderer: rendererFor(names) });
  const parts = partsOf(marked.lexer(text), marked);
  const listed = parts.filter(({ depth }) => depth === 2 || depth === 3);
  return {
    parts: listed
      .map(({ id, depth, title }) => `<li${depth === 3 ? ' class="below"' : ''}><a href="#${id}">${title}</a></li>`)
      .join(''),
    // Two braces mark a placeholder in a page, but are plain text in a document.
    text: `<article class="guide">${parts.map(writePart).join('\n').replaceAll('{{', '&#123;{')}</article>`,
  };
}

/** Splits a document at its headings. The id of a part is the anchor that repository hosts generate for its heading. */
function partsOf(tokens, marked) {
  const seen = new Map();
  const parts = [];
  for (const token of tokens) {
    if (token.type === 'heading') {
      const slug = slugOf(token.text);
      const before = seen.get(slug) ?? 0;
      seen.set(slug, before + 1);
      const title = marked.Parser.parseInline(withoutLinks(token.tokens), marked.defaults);
      parts.push({ id: before === 0 ? slug : `${slug}-${before}`, depth: token.depth, title, tokens: [] });
    } else {
      parts.at(-1)?.tokens.push(token);
    }
  }
  return parts.map((part) => ({ ...part, body: marked.parser(part.tokens) }));
}

const slugOf = (heading) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

/** A heading is itself a link, so it must not contain links. */
const withoutLinks = (tokens) => tokens.flatMap((token) => (token.type === 'link' ? token.tokens : [token]));

function writePart({ id, depth, title, body }) {
  const heading = `<h${depth}><a href="#${id}">${title}</a></h${depth}>`;
  return `<section class="part" id="${id}">${heading}\n${body}</section>`;
}

const languages = {
  sh: 'Terminal',
  html: 'HTML',
  js: 'JavaScript',
  ts: 'TypeScript',
  json: 'JSON',
  python: 'Python',
  yaml: 'YAML',
};

/** HTML in documents is shown as text, and its comments are dropped. */
function rendererFor(names) {
  return {
    html: ({ text }) => escape(text.replaceAll(/<!--[^]*?-->/g, '').trimEnd()),
    code({ text, lang }) {
      const title = languages[lang] ?? 'Text';
      return `<div class="code"><div class="code-title">${title}</div><pre tabindex="0" aria-label="${title}">${escape(text)}</pre></div>\n`;
    },
    table({ header, rows }) {
      const row = (cells, tag) =>
        `<tr>${cells.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')}</tr>`;
      const body = rows.map((cells) => row(cells, 'td')).join('\n');
      return `<div class="scroll" tabindex="0" role="group" aria-label="Table"><table><thead>${row(header, 'th')}</thead>\n<tbody>${body}</tbody></table></div>\n`;
    },
    image: ({ text }) => escape(text),
    link({ href, tokens }) {
      const words = this.parser.parseInline(tokens);
      const address = addressOf(href, names);
      return address === undefined ? words : `<a href="${escape(address)}">${words}</a>`;
    },
  };
}

/** The address on the page for a document's link; undefined if its target is not served. */
function addressOf(href, names) {
  if (/^(?:https:\/\/|mailto:|#)/.test(href)) return href;
  const [path, anchor] = href.split('#');
  const file = normalize(join('docs', path));
  const name = dirname(file) === 'docs' && file.endsWith('.md') ? file.slice('docs/'.length, -'.md'.length) : '';
  const after = anchor === undefined ? '' : `#${anchor}`;
  if (names.has(name)) return `/docs/${name}${after}`;
  const isInside = !/^[\w+.-]+:/.test(href) && !file.startsWith('..');
  return repository !== undefined && isInside ? `${repository}/tree/HEAD/${file}${after}` : undefined;
}
