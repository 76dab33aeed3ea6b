import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

interface Notices {
  readonly collectPackages: () => {
    readonly plugin: { generateBundle(options: unknown, files: object): void };
    readonly folders: () => string[];
  };
  readonly noticesAsText: (folders: readonly string[]) => string;
  readonly noticesAsMarkdown: (folders: readonly string[]) => string;
}

const root = fileURLToPath(new URL('..', import.meta.url));
let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'notices-'))));
afterAll(() => rm(folder, { recursive: true, force: true }));

const load = async (): Promise<Notices> => (await import(join(root, 'scripts/notices.mjs'))) as Notices;

/** What goes along with a bundle that a package is in. */
async function noticeOf(name: string, from = root): Promise<string> {
  const { collectPackages, noticesAsText } = await load();
  const { plugin, folders } = collectPackages();
  plugin.generateBundle(undefined, { 'main.js': { moduleIds: [join(from, 'node_modules', name, 'index.js')] } });
  return noticesAsText(folders());
}

/** The same of a package that is made for the test. */
async function noticeOfMade(license: string | undefined, text?: string): Promise<string> {
  const name = `made-${license}-${text === undefined ? 'bare' : 'with-text'}`;
  const home = join(folder, 'node_modules', name);
  await mkdir(home, { recursive: true });
  await writeFile(join(home, 'package.json'), JSON.stringify({ name, version: '1.0.0', license }));
  if (text !== undefined) await writeFile(join(home, 'LICENSE'), text);
  return noticeOf(name, folder);
}

test('A package that brings no text of its licence goes along with what its repository has', async () => {
  const text = await noticeOf('@redis/client');
  expect(text).toMatch(/^@redis\/client \S+, MIT\n\nMIT License\n\nCopyright \(c\) [\d-]+, Redis, inc\.\n/);
  expect(text).toContain('The above copyright notice and this permission notice shall be included');
});

test('A licence that asks for no notice needs no text, and any other does', async () => {
  expect(await noticeOfMade('Unlicense')).toBe('made-Unlicense-bare 1.0.0, Unlicense\n');
  expect(await noticeOfMade('MIT', 'Copyright\n')).toBe('made-MIT-with-text 1.0.0, MIT\n\nCopyright\n');
  await expect(noticeOfMade('MIT')).rejects.toThrow('made-MIT-bare 1.0.0 has no text of its licence');
  await expect(noticeOfMade(undefined)).rejects.toThrow('made-undefined-bare 1.0.0 names no licence');
});

test('A package that is bundled in several places has one notice in Markdown', async () => {
  const { noticesAsMarkdown } = await load();
  const [redis, zod] = ['@redis/client', 'zod'].map((name) => join(root, 'node_modules', name)) as [string, string];
  const text = noticesAsMarkdown([zod, redis, zod]);
  expect([...text.matchAll(/^## (\S+) /gm)].map(([, name]) => name)).toEqual(['@redis/client', 'zod']);
  expect(text).toContain('\n```text\nMIT License\n');
});
