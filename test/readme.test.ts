import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { variables } from '../config/env.ts';
import { variableGroups } from '../src/cli/help.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const readme = readFileSync(`${root}/README.md`, 'utf8');
const manifest = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as { scripts: Record<string, string> };

/** The characters that Markdown would take for its own. */
function escape(text: string): string {
  return text.replaceAll('<', '\\<').replaceAll('*', '\\*');
}

describe('The README', () => {
  test('has every variable with its default and meaning, in the groups of --help', () => {
    const [, table = ''] = readme.split('| variable | default | meaning |\n|---|---|---|\n');
    const rows = Object.values(variableGroups)
      .flat()
      .map((name) => {
        const { defaultText, meaning, requiredInProduction } = variables[name];
        return `| \`${name}\`${requiredInProduction ? ' *' : ''} | ${escape(defaultText)} | ${escape(meaning)} |`;
      });
    expect(table.split('\n\n')[0]?.split('\n')).toEqual(rows);
  });

  test('links to files and chapters that are there', () => {
    const targets = [...readme.matchAll(/\]\((?!https?:)([^)]+)\)/g)].map((match) => match[1] ?? '');
    const chapters = new Set(
      [...readme.matchAll(/^#+ (.+)$/gm)].map((match) => `#${(match[1] ?? '').toLowerCase().replaceAll(' ', '-')}`),
    );
    expect(targets.length).toBeGreaterThan(8);
    const missing = targets.filter((target) =>
      target.startsWith('#') ? !chapters.has(target) : !existsSync(`${root}/${target}`),
    );
    expect(missing).toEqual([]);
  });

  test('names commands that npm knows', () => {
    const commands = [...readme.matchAll(/npm run ([\w:]+)/g)].map((match) => match[1] ?? '');
    expect(commands).toContain('check');
    expect(commands.filter((command) => !(command in manifest.scripts))).toEqual([]);
  });
});
