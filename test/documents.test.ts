import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { apiDocument } from '../src/http/routes/all.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const documents = ['README.md', 'charts/switchboard/README.md', ...listFiles(['docs'], /\.md$/)];
const sources = listFiles(
  ['src', 'machines', 'config', 'scripts', 'charts', 'test'],
  /\.(?:ts|tsx|mjs|js|yaml|sql)$/,
).filter((path) => path !== 'test/documents.test.ts');

function listFiles(folders: readonly string[], names: RegExp): string[] {
  return folders
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
    )
    .filter((path) => names.test(path))
    .toSorted();
}

function textOf(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** A document without code blocks: what looks like Markdown there is none. */
function prose(path: string): string {
  return textOf(path).replaceAll(/^```[^]*?^```$/gm, '');
}

function headings(path: string): string[] {
  return [...prose(path).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => heading);
}

/** The names under which hosts of repositories offer headings. */
function anchors(path: string): string[] {
  return headings(path).map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** The numbers of the sections of a document: `5` and `5.4`. */
function sections(path: string): Set<string> {
  return new Set(headings(path).flatMap((heading) => /^(\d+(?:\.\d+)*)\.? /.exec(heading)?.[1] ?? []));
}

/** The text with its comments in one piece each, so that a citation may begin on one line and end on the next. */
function joined(text: string): string {
  return text.replaceAll(/\s*\n\s*(?:\*|\/\/|#|--)\s*(?!\/)/g, ' ');
}

const citation = /\b(docs\/[\w/-]+\.md), sections? (\d+(?:\.\d+)*(?:(?:, | and )\d+(?:\.\d+)*)*)/g;
const broken = (text: string): string[] =>
  [...joined(text).matchAll(citation)].flatMap(([whole, path = '', numbers = '']) =>
    existsSync(join(root, path)) && (numbers.match(/[\d.]+\d|\d/g) ?? []).every((one) => sections(path).has(one))
      ? []
      : [whole],
  );

/** Words that cite a document by its kind: a reader of the repository cannot know which is meant. */
const vague =
  /\b(?:contract|architecture|specification)(?:['’]s)? sections? ?\d|\bgoals?, [PR]\d|\b(?:spec|design)\/[\w-]+\.md/i;

/** Documents whose `npm run` commands must be in package.json. */
const withCommands = ['README.md', 'docs/contributing.md', 'docs/goals.md', 'docs/operations.md'];

const MAX_README_LINES = 180;

describe('Documents', () => {
  test('name commands that npm knows', () => {
    const { scripts } = JSON.parse(textOf('package.json')) as { readonly scripts: Readonly<Record<string, string>> };
    const commands = withCommands.flatMap((path) =>
      [...textOf(path).matchAll(/npm run ([\w:]+)/g)].map(([, name = '']) => name),
    );
    expect(commands).toContain('bench');
    expect(commands.filter((command) => !(command in scripts))).toEqual([]);
  });

  test(`begin with a README of at most ${MAX_README_LINES} lines`, () => {
    expect(textOf('README.md').split('\n').length - 1).toBeLessThanOrEqual(MAX_README_LINES);
  });

  test('link to files and headings that are there', () => {
    const missing = documents.flatMap((path) =>
      [...prose(path).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)/g)].flatMap(
        ([, file = '', anchor]) => {
          const target = file === '' ? path : normalize(join(dirname(path), file));
          const isThere = existsSync(join(root, target)) && (anchor === undefined || anchors(target).includes(anchor));
          return isThere ? [] : [`${path}: ${file}${anchor === undefined ? '' : `#${anchor}`}`];
        },
      ),
    );
    expect(missing).toEqual([]);
  });

  test('are listed where a reader begins: each can be reached from the README', () => {
    const found = new Set(['README.md']);
    for (const path of found)
      for (const [, file = ''] of prose(path).matchAll(/\]\(([\w./-]+\.md)[#)]/g))
        found.add(normalize(join(dirname(path), file)));
    expect(documents.filter((path) => !found.has(path))).toEqual([]);
  });

  test('name files of the source that are there', () => {
    const isThere = (path: string): boolean => ['', '.ts'].some((end) => existsSync(join(root, path + end)));
    const named = documents.flatMap((path) =>
      [...prose(path).matchAll(/`((?:src|machines|config|scripts|test|\.ci|\.githooks)\/[\w./-]*)`/g)].map(
        ([, file = '']) => file,
      ),
    );
    const [, walks = ''] = textOf('docs/architecture.md').split('\n## 8. Walks\n');
    const walked = [...walks.matchAll(/^```text$[^]*?^```$/gm)].flatMap(
      ([block]) => block.match(/[\w-]+(?:\/[\w-]+)+/g) ?? [],
    );
    expect(walked.length).toBeGreaterThan(10);
    expect([
      ...named.filter((path) => !isThere(path)),
      ...walked.filter((path) => !isThere(path) && !isThere(`src/${path}`)),
    ]).toEqual([]);
  });

  test('have no two sections of one number, and none left out', () => {
    for (const path of ['docs/contract.md', 'docs/architecture.md']) {
      const numbers = headings(path).flatMap((heading) => /^(\d+(?:\.\d+)*)\.? /.exec(heading)?.[1] ?? []);
      expect(new Set(numbers).size, path).toBe(numbers.length);
      const chapters = numbers.filter((one) => !one.includes('.')).map(Number);
      expect(chapters, path).toEqual(chapters.map((_, index) => index + 1));
    }
  });
});

describe('The contract', () => {
  interface Operation {
    readonly responses: Readonly<
      Record<string, { readonly content?: { readonly 'application/json'?: { readonly examples?: object } } }>
    >;
  }
  const contract = textOf('docs/contract.md');
  const { paths } = apiDocument('https://voice.example.com') as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
  );

  test('has every request of the interface description, and no other', () => {
    const [, table = ''] = contract.split('### 2.8 All requests\n\n');
    const listed = [...(table.split('\n\n')[0] ?? '').matchAll(/`((?:GET|POST|PATCH|DELETE) [^`]+)`/g)].map(
      ([, name = '']) => name,
    );
    expect(listed.toSorted()).toEqual(operations.map(({ name }) => name).toSorted());
  });

  test('has every code that the interface description shows, with its status', () => {
    const shown = operations.flatMap(({ operation }) =>
      Object.entries(operation.responses).flatMap(([status, { content }]) =>
        [...JSON.stringify(content?.['application/json']?.examples ?? {}).matchAll(/"code":"([A-Z_]+)"/g)].map(
          ([, code]) => `| ${code} | ${status} |`,
        ),
      ),
    );
    expect(shown.length).toBeGreaterThan(50);
    expect([...new Set(shown)].filter((row) => !contract.includes(`\n${row}`))).toEqual([]);
  });

  test('tells the defaults of the table of variables', () => {
    const defaults = new Map(
      [...textOf('docs/operations.md').matchAll(/^\| `(\w+)`(?: \*)? \| (.*?) \|/gm)].map(([, name, text]) => [
        name,
        text,
      ]),
    );
    const [, limits = ''] = contract.split('\n## 10. Limits\n');
    const rows = limits
      .split('\n## ')[0]
      ?.split('\n')
      .filter((line) => line.startsWith('|') && line.includes('`'));
    const told = rows?.flatMap((row) => {
      const names = [...row.matchAll(/`([A-Z_]+)`/g)].map(([, name = '']) => name);
      const values = row.split('|').slice(2, 2 + names.length);
      return names.map((name, index) => [name, /\d+/.exec(values[index] ?? '')?.[0] ?? '0']);
    });
    expect(told?.length).toBeGreaterThan(15);
    expect(told).toEqual(told?.map(([name]) => [name, defaults.get(name)]));
  });
});

describe('Comments', () => {
  test('cite sections that are there', () => {
    expect(sources.flatMap((path) => broken(textOf(path)).map((whole) => `${path}: ${whole}`))).toEqual([]);
  });

  test('name documents that are in the repository', () => {
    const named = /(?<![\w*])(?:[\w-]+\/)*[\w-]+\.md\b/g;
    const strangers = sources
      .filter((path) => !path.startsWith('test/'))
      .flatMap((path) => [...joined(textOf(path)).matchAll(named)].map(([file]) => ({ path, file })))
      .filter(({ path, file }) => !existsSync(join(root, file)) && !existsSync(join(root, dirname(path), file)));
    expect(strangers).toEqual([]);
  });

  test('say which document they cite', () => {
    expect(sources.filter((path) => vague.test(joined(textOf(path))))).toEqual([]);
  });
});

describe('The check itself', () => {
  test.each([
    [' * what holds (docs/contract.md, section 99)', 1],
    [' * what holds (docs/contract.md, sections 5 and 5.99)', 1],
    [' * what holds (docs/contract.md,\n   * section 99)', 1],
    [' * what holds (docs/nothing.md, section 1)', 1],
    [' * what holds (docs/contract.md, sections 3, 5.4 and 10)', 0],
    [' * what holds (docs/architecture.md,\n * section 5: history)', 0],
  ])('judges the citation %j', (text, found) => {
    expect(broken(text)).toHaveLength(found);
  });

  test.each(['the contract’s section 5', 'specification sections 3 and 8', 'architecture section\n * 5'])(
    'takes %j for a citation of nothing that is here',
    (text) => {
      expect(vague.test(joined(text))).toBe(true);
      expect(vague.test('docs/contract.md, section 5')).toBe(false);
    },
  );
});
