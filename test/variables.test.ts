import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { variablesOf, type Variable } from '../config/variable.ts';
import { groups, variables } from '../config/variables.ts';

/** What derives from the table of variables. After a change there, `npx vitest run test/variables.test.ts -u` writes it anew. */
describe('The table of variables is the one', () => {
  test('of docs/operations.md', async () => {
    const file = '../docs/operations.md';
    const written = between(read(file), '<!-- variables -->', '<!-- /variables -->', `\n${markdown()}\n`);
    await expect(written).toMatchFileSnapshot(file);
  });

  test('of config/compose.yaml, which hands on every variable that it does not set itself', async () => {
    const file = '../config/compose.yaml';
    const text = read(file);
    const own = new Set([...text.matchAll(/^ {4}([A-Z_]+): (?!\$\{\1:-\}$)/gm)].map(([, name]) => name));
    const handedOn = variables.filter(({ name }) => !ofTheImage.has(name) && !own.has(name));
    const lines = handedOn.map(({ name }) => `    ${name}: \${${name}:-}\n`).join('');
    await expect(between(text, '    # <variables>\n', '    # </variables>\n', lines)).toMatchFileSnapshot(file);
  });
});

/** Decided by the image, or by where compose mounts a file. */
const ofTheImage = new Set(['HOST', 'PORT', 'DATA_DIR', 'TENANTS_FILE']);

function read(file: string): string {
  return readFileSync(fileURLToPath(new URL(file, import.meta.url)), 'utf8');
}

/** The text with `middle` between the two marks. */
function between(text: string, first: string, last: string, middle: string): string {
  const [before, rest, ...others] = text.split(first);
  const [, after, ...more] = rest?.split(last) ?? [];
  expect([others, more, typeof after]).toEqual([[], [], 'string']);
  return `${before}${first}${middle}${last}${after}`;
}

function markdown(): string {
  const tables = Object.entries(groups).map(([title, fields]) =>
    [`**${title}**`, '', '| variable | default | meaning |', '|---|---|---|', ...variablesOf(fields).map(row), ''].join(
      '\n',
    ),
  );
  return tables.join('\n');
}

function row({ name, production, unset, meaning }: Variable): string {
  return `| \`${name}\`${production ? ' *' : ''} | ${escape(unset)} | ${escape(meaning)} |`;
}

/** The characters that Markdown would take for its own. */
function escape(text: string): string {
  return text.replaceAll('<', '\\<').replaceAll('*', '\\*');
}
