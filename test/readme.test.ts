import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { variables } from '../config/env.ts';
import { variableGroups } from '../src/cli/help.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const manual = readFileSync(`${root}/docs/operations.md`, 'utf8');

/** The characters that Markdown would take for its own. */
function escape(text: string): string {
  return text.replaceAll('<', '\\<').replaceAll('*', '\\*');
}

describe('The manual', () => {
  test('has every variable with its default and meaning, in the groups of --help', () => {
    const [, table = ''] = manual.split('<!-- variables -->\n\n| variable | default | meaning |\n|---|---|---|\n');
    const rows = Object.values(variableGroups)
      .flat()
      .map((name) => {
        const { defaultText, meaning, requiredInProduction } = variables[name];
        return `| \`${name}\`${requiredInProduction ? ' *' : ''} | ${escape(defaultText)} | ${escape(meaning)} |`;
      });
    expect(table.split('\n\n<!-- /variables -->')[0]?.split('\n')).toEqual(rows);
  });
});
