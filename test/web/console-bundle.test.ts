import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';

const built = fileURLToPath(new URL('../../dist/web/', import.meta.url));
const page = readFileSync(`${built}console/index.html`, 'utf8');

const read = (name: string): string => readFileSync(`${built}console/assets/${name}`, 'utf8');
const packedSize = (name: string): number => readFileSync(`${built}console/assets/${name}.gz`).length;
const named = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, name = '']) => name);

/** A file with everything that it imports statically. */
function closure(name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found;
  found.add(name);
  if (name.endsWith('.js'))
    for (const next of named(read(name), /from\s*"\.\/([\w.-]+)"|import"\.\/([\w.-]+)"/g)) closure(next, found);
  return found;
}

const first = new Set(named(page, /\/console\/assets\/([\w.-]+)/g).flatMap((name) => [...closure(name)]));
const views = named(
  [...first]
    .filter((name) => name.endsWith('.js'))
    .map(read)
    .join('\n'),
  /import\(["'`]\.\/([\w.-]+)["'`]\)/g,
);

describe('The console as it is served', () => {
  test('loads its views when they are opened', () => {
    expect(views.length).toBeGreaterThanOrEqual(3);
  });

  test('loads at most 60 kB after gzip before any view', () => {
    for (const view of views) {
      const sizes = [...new Set([...first, ...closure(view)])].map((name) => ({ name, bytes: packedSize(name) }));
      const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
      expect(total, `${view} with ${JSON.stringify(sizes)}`).toBeLessThanOrEqual(60_000);
      expect(total, view).toBeGreaterThan(10_000);
    }
  });

  test('first loads the styles of its frame, not those of a view', () => {
    const styles = [...first].filter((name) => name.endsWith('.css')).map(read);
    expect(styles.join('\n')).toContain('.rail');
  });

  test('has at most a dozen files with all pages, because a whole office may open it from one address in the same minute', () => {
    const all = new Set([...first, ...views.flatMap((view) => [...closure(view)])]);
    expect(all.size).toBeGreaterThan(new Set(views).size);
    expect(all.size).toBeLessThanOrEqual(12);
  });

  test('contains no validator, and nothing from another origin', () => {
    const texts = [...first, ...views].map(read).join('\n');
    expect(texts).not.toMatch(/ZodError|\$ZodType/);
    expect(named(texts, /(?:fetch|import|url)\(["'`]?(https?:)/g)).toEqual([]);
  });

  test('is built for production, and names no file of the machine that built it', () => {
    const texts = [...first, ...views].map(read).join('\n');
    expect(texts).not.toMatch(/\/src\/web\/|lineNumber:/);
  });

  test('has compressed files with the same content', () => {
    for (const name of first)
      expect(gunzipSync(readFileSync(`${built}console/assets/${name}.gz`)).toString()).toBe(read(name));
  });
});
