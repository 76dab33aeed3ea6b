import { readFile } from 'node:fs/promises';
import type { AsyncApi, OpenApi } from './reference/document.ts';
import type { ExampleKey } from './reference/request.ts';
import { referencePages, referencePath, type ReferencePage } from './reference/groups.ts';
import type { Answer, Call, Result, Route } from '../http/route.ts';
import { docsContents, guidePath, guides, type Guide } from './guides.ts';
import { html } from './html.ts';
import { sendLongPage, assetRoute, pageRoute, shareTags, webFile } from './files.ts';
import { sendDocument } from '../http/documents.ts';
import type { Eventually } from '../kernel/async.ts';
import { findDemo, type DemoServices } from './demo.ts';
import { unescapeHtml } from '../kernel/text.ts';
import type { DocsPart } from '../protocol/site-data.ts';

/** The documents that describe the service: OpenAPI and AsyncAPI. */
export interface Documents {
  readonly openapi: () => object;
  readonly asyncapi: () => object;
}

/** The first page. */
const start = {
  title: 'Documentation',
  about: 'Guides, and every request, frame and error, with examples to copy.',
};

/**
 * The documentation: guides, which the build made, and the API reference. The service writes the reference itself on first use, so that
 * it matches what is served.
 */
export function docsRoutes(services: DemoServices, documents: Documents): Route[] {
  const shell = webFile('docs/index.html');
  const baseUrl = services.core.publicUrl;
  const described = (key?: ExampleKey) => {
    const [openapi, asyncapi] = [documents.openapi() as OpenApi, documents.asyncapi() as AsyncApi];
    return { openapi, asyncapi, baseUrl: baseUrl(), key };
  };
  // Imported on the first visit, because most processes have none.
  const write = async (page: ReferencePage | undefined, key?: ExampleKey) => {
    const { writeReference, writeStart } = await import('./reference/page.ts');
    return page === undefined ? writeStart(described(key)) : writeReference(page, described(key));
  };
  // With the demo's public key, the examples work as they stand.
  const keyFor = ({ request }: Call): ExampleKey | undefined => {
    const found = findDemo(services, request.headers['host']);
    return found && { widgetKey: found.key.key, agentId: found.agentId, origin: found.key.origin };
  };
  const reference = [undefined, ...referencePages].map((page) => {
    const path = page === undefined ? '/docs' : referencePath(page);
    const { title, about } = page ?? start;
    return {
      path,
      page,
      send: sendLongPage(shell, keyFor, async (key) => ({
        ...(await write(page, key)),
        title,
        about,
        languages,
        documentation: docsContents(path),
        share: shareTags(baseUrl(), path, `Switchboard: ${title}`, about),
      })),
    };
  });
  const guideFile = ({ name }: Guide): URL => webFile(`docs/guides/${name}.html`);
  return [
    ...reference.flatMap(({ path, page, send }) => [
      ...pageRoutes(path, send),
      ...(page === undefined ? pageRoutes('/docs/reference', send) : []),
    ]),
    ...guides.flatMap((guide) => pageRoutes(guidePath(guide), sendGuide(guide, guideFile(guide), baseUrl))),
    pageRoute(
      '/docs/search.json',
      sendOnceMade(async () => {
        const ofGuides = guides.map(async (guide) =>
          searchParts(guidePath(guide), guide.title, await readFile(guideFile(guide), 'utf8')),
        );
        const ofReference = reference.map(async ({ path, page }) =>
          searchParts(path, 'API reference', (await write(page)).text.text),
        );
        return (await Promise.all([...ofGuides, ...ofReference])).flat();
      }),
    ),
    assetRoute('docs'),
  ];
}

/** The languages of the examples: the style sheet shows the chosen one, without a script. */
const languages = html`<fieldset class="languages">
  <legend>Language of the examples</legend>
  <label><input type="radio" name="language" id="in-curl" value="curl" checked />curl</label>
  <label><input type="radio" name="language" id="in-js" value="js" />JavaScript</label>
  <label><input type="radio" name="language" id="in-python" value="python" />Python</label>
</fieldset>`;

/** A page that also answers at its path with a trailing slash. */
function pageRoutes(path: string, send: (call: Call) => Promise<Result>): Route[] {
  return [path, `${path}/`].map((address) => pageRoute(address, send));
}

function sendGuide(guide: Guide, file: URL, publicUrl: () => string) {
  const path = guidePath(guide);
  return sendLongPage(file, publicUrl, (baseUrl) => ({
    documentation: docsContents(path),
    share: shareTags(baseUrl, path, `Switchboard: ${guide.title}`, guide.about),
  }));
}

/** Sends a JSON document that is slow to make, and makes it only once. */
function sendOnceMade(make: () => Promise<object>): (call: Call) => Promise<Answer> {
  let made: Promise<(call: Call) => Eventually<Answer>> | undefined;
  return async (call) => {
    made ??= make().then((found) => sendDocument(() => found));
    try {
      return await (
        await made
      )(call);
    } catch (fault) {
      made = undefined;
      throw fault;
    }
  };
}

const EXCERPT = 160;

/** Entries of the reference and sections of guides, each starting with its heading. What is beside an entry is code. */
const parts =
  /<(article|section) class="(?:entry|part)[^"]*" id="(?<id>[^"]+)">.*?<(h[1-6])\b[^>]*>(?<title>.*?)<\/\3>(?<text>.*?)(?:<div class="shown">|<\/\1>)/gs;

/** The parts of a page of /docs that the search can find. @param html the page as written by the build or the service */
function searchParts(path: string, page: string, html: string): DocsPart[] {
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
