import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const readme = readFileSync(`${root}/README.md`, 'utf8');
const manifest = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as { scripts: Record<string, string> };

describe('The README', () => {
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
