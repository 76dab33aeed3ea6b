import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import type { DocsPart } from '../../src/protocol/site-data.ts';
import { guidePath, guides } from '../../src/site/guides.ts';
import { referencePages, referencePath } from '../../src/site/reference/groups.ts';
import type { TestApp } from '../support/app.ts';
import { useApps } from '../support/use-apps.ts';
import { errorOf } from '../http/app.ts';

const { buildForFile } = useApps();
const paths = ['/docs', ...referencePages.map((page) => referencePath(page)), ...guides.map(guidePath)];
const pages = new Map<string, string>();
let app: TestApp;

beforeAll(async () => {
  app = await buildForFile();
  for (const path of paths) pages.set(path, (await app.get(path)).text);
});

const idsOf = (text: string): string[] => [...text.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id);
const linksOf = (text: string): string[] => [...text.matchAll(/<a [^>]*?href="([^"]+)"/g)].map(([, to = '']) => to);

/** Whether an address within the documentation leads to an existing page, and to an existing place on it. */
function leads(address: string, from: string): boolean {
  const { pathname, hash } = new URL(address, `http://localhost${from}`);
  const text = pages.get(pathname);
  return text !== undefined && (hash === '' || idsOf(text).includes(decodeURIComponent(hash.slice(1))));
}

describe('A guide', () => {
  test.each(guides)(
    '$name is a page that needs no script, runs none of its own, and is sent packed',
    async ({ name }) => {
      const { status, headers, text } = await app.get(`/docs/${name}`);
      expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
      expect(headers['content-security-policy']).toMatch(/default-src 'none'; script-src 'self'; style-src 'self';/);
      expect(text).not.toMatch(/<script(?![^>]* src="\/)| style=| on\w+="|src="https?:|\{\{/);
      expect(text).toMatch(/<h1><a href="#[\w-]+">[^<]/);
      expect(text).toMatch(/<meta property="og:title" content="Switchboard: /);
      const packed = await app.get(`/docs/${name}`, { 'accept-encoding': 'gzip' });
      expect(packed.headers['content-encoding']).toBe('gzip');
      expect(gzipSync(text, { level: 9 }).length).toBeLessThanOrEqual(75_000);
    },
  );

  test('leads to nothing that is not there: every link of every guide, on its page, to others, and to the service', async () => {
    const all = paths.flatMap((from) => linksOf(pages.get(from) ?? '').map((to) => ({ from, to })));
    const isDocs = (to: string): boolean => /^(?:#|\/docs(?:[/#]|$))/.test(to);
    const inside = all.filter(({ to }) => isDocs(to));
    expect(inside.length).toBeGreaterThan(1000);
    expect(inside.filter(({ from, to }) => !leads(to, from))).toEqual([]);
    const ofService = all.filter(({ to }) => !isDocs(to) && !/^(?:https|mailto):/.test(to)).map(({ to }) => to);
    for (const to of new Set(ofService)) expect((await app.get(to)).status, to).toBe(200);
  });

  test('names each of its parts once', () => {
    for (const [path, text] of pages) {
      const ids = idsOf(text);
      expect(
        ids.filter((id, index) => ids.indexOf(id) !== index),
        path,
      ).toEqual([]);
    }
  });

  test('and each page of the reference is listed on all of them, which mark the one that they are', () => {
    for (const [path, text] of pages) {
      expect(linksOf(text)).toEqual(expect.arrayContaining(paths));
      expect(text.match(/<a href="[^"]*" aria-current="page">/g)).toEqual([`<a href="${path}" aria-current="page">`]);
    }
  });

  test.each(['nothing', 'architecture', 'widget.md', 'guide', 'guides/widget.html', '..%2findex'])(
    '%s is none',
    async (name) => {
      expect(errorOf(await app.get(`/docs/${name}`))).toEqual({ status: 404, code: 'NOT_FOUND' });
    },
  );
});

test('The reference is found as well where its pages are', async () => {
  for (const path of ['/docs/', '/docs/reference', '/docs/reference/', '/docs/widget/'])
    expect((await app.get(path)).text, path).toContain('id="contents"');
});

describe('The search of the documentation', () => {
  let parts: readonly DocsPart[];
  beforeAll(async () => {
    parts = JSON.parse((await app.get('/docs/search.json')).text) as readonly DocsPart[];
  });
  const with_ = (word: string): string[] => parts.filter(({ words }) => words.includes(word)).map(({ path }) => path);

  test('knows every part of every guide and every entry of the reference, by addresses that lead there', () => {
    expect(parts.filter(({ path }) => !leads(path, '/'))).toEqual([]);
    for (const [path, text] of pages) {
      const known = parts.filter((part) => part.path.startsWith(`${path}#`)).length;
      expect(known, path).toBe(text.match(/<(?:section class="part|article class="entry)/g)?.length);
    }
  });

  test('finds settings, codes, fields and operations by their names, as people read them', () => {
    expect(with_('trust_proxy')).toContain('/docs/operations#configuration');
    expect(with_('origin_mismatch')).toEqual(
      expect.arrayContaining(['/docs/contract#23-codes', '/docs/reference/errors#ORIGIN_MISMATCH']),
    );
    expect(with_('createsession')).toContain('/docs/reference/pages#createSession');
    expect(parts.find(({ path }) => path === '/docs/contract#45-new-visitors')).toMatchObject({
      page: 'Contract',
      title: '4.5 New visitors',
      excerpt: expect.stringMatching(/^A key with limits\.newVisitorSeconds .*…$/),
    });
    expect(parts.filter(({ title, excerpt, words }) => /<\/|&(?:lt|quot|#)/.test(title + excerpt + words))).toEqual([]);
  });

  test('is at most 140 kB over the wire, and sent packed', async () => {
    const { headers } = await app.get('/docs/search.json', { 'accept-encoding': 'gzip' });
    expect(headers['content-encoding']).toBe('gzip');
    expect(gzipSync(JSON.stringify(parts), { level: 9 }).length).toBeLessThanOrEqual(140_000);
  });
});

describe('What a document holds', () => {
  type Write = (text: string, names: ReadonlySet<string>) => { readonly parts: string; readonly text: string };
  let write: (text: string) => string;
  beforeAll(async () => {
    const builder = fileURLToPath(new URL('../../scripts/build-guides.mjs', import.meta.url));
    const { writeGuide } = (await import(builder)) as { readonly writeGuide: Write };
    write = (text) =>
      writeGuide(`# T\n\n${text}`, new Set(['widget']))
        .text.replace(/^.*<\/h1>\n/, '')
        .replace(/<\/article>$/, '');
  });

  test('of HTML is text, and its comments are left out', () => {
    expect(write('a <b onclick="x()">b</b>\n\n<script>alert(1)</script>\n\n<!-- c -->')).not.toMatch(
      /<(?:b|script|!--)/,
    );
    expect(write('<script>alert(1)</script>')).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(write('```html\n<script>\n```')).toContain('>&lt;script&gt;</pre>');
    expect(write('`{{share}}`')).not.toContain('{{');
    expect(write('![x](https://evil.example/x.png)')).not.toContain('<img');
  });

  test.each([
    ['[x](widget.md#events)', '<a href="/docs/widget#events">x</a>'],
    ['[x](#here)', '<a href="#here">x</a>'],
    ['[x](https://a.example/?b&c)', '<a href="https://a.example/?b&amp;c">x</a>'],
    ['[x](contributing.md)', 'x'],
    ['[x](../config/nginx.conf)', 'x'],
    ['[x](javascript:alert(1))', 'x'],
    ['[x](//evil.example)', 'x'],
    ['[x](http://a.example)', 'x'],
  ])('%s is written as %s', (text, written) => {
    expect(write(text)).toBe(`<p>${written}</p>\n</section>`);
  });

  test('has headings whose ids are told apart', () => {
    const ids = idsOf(write('## A `b_c`: d, e\n\n## Same\n\n## Same'));
    expect(ids).toEqual(['a-b_c-d-e', 'same', 'same-1']);
  });
});
