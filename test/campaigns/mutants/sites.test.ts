import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { distancesTo } from './nearest.ts';
import { noteHits } from './hits.ts';
import { shareOf, showShare } from './figures.ts';
import { mutantsOf } from './sites.ts';

const FILE = 'file.ts';
const appliedTo = (text: string): string[] =>
  mutantsOf(FILE, text).map(
    ({ start, end, text: replacement }) => text.slice(0, start) + replacement + text.slice(end),
  );

describe('The mutants of a file', () => {
  test.each([
    ['if (a) b = c;', ['if (!(a)) b = c;']],
    ['x = a < b;', ['x = (a <= b);']],
    ['x = a >= b;', ['x = (a > b);']],
    ['if (a === b) c = d;', ['if ((a !== b)) c = d;']],
    ['x = a - b;', ['x = (a + b);']],
    ['x += a;', ['(x -= a);']],
    ['x = a && b && c;', ['x = (a && b || c);', 'x = (a || b) && c;']],
    ['x = true;', ['x = false;']],
    ['x = 41;', ['x = 42;']],
    ["x = 'a';", ["x = '';"]],
    ['x = `a${b}`;', ["x = '';"]],
    // Text is joined, never subtracted.
    ["x = a + 'b';", ["x = a + '';"]],
    ['x = [a];', ['x = [];']],
    ['x = { a };', ['x = ({});']],
    ['await a.b();', [';']],
    ['const f = () => { a = b; };', ['const f = () => { return; a = b; };']],
  ])('of %s are %j', (text, mutants) => {
    expect(appliedTo(text)).toEqual(mutants);
  });

  test.each([
    ['a type', "type A = 'a' | 1; let x: 'b'; x = y as 'c'; f<'d'>;"],
    [
      'an import',
      "import a from 'a'; import b from 'b' with { type: 'json' }; export { c } from 'c'; export * from 'd';",
    ],
    ['a log line', "this.#log.warn({ a: 1 }, 'text'); deps.logger.info('text');"],
    ['the text of an error', "throw new TypeError('text');"],
    ['a description', "const x = y.meta({ description: 'text' }).describe('text');"],
    ['a name of a field', "const { 'a': x } = y;"],
    ['a function that has to return a value', 'function f() { a = b; return c; }'],
    ['the call of the constructor of the base', 'class A extends B { constructor() { super(); } }'],
    ['what is empty already', "x = ''; y = []; z = {};"],
  ])('are never in %s', (_, text) => {
    expect(appliedTo(text)).toEqual([]);
  });

  test('know whether they run when the file is loaded', () => {
    const mutants = mutantsOf(FILE, 'const a = 1; const f = () => 2;');
    expect(mutants.map(({ onLoad }) => onLoad)).toEqual([true, false]);
  });
});

test('A place notes that it was reached, and does what it did', () => {
  const text = 'const f = (a) => { if (a < 3 && a > 0) g(1); h = [a + 2]; }; f(1);';
  const mutants = mutantsOf(FILE, text);
  const seen: number[] = [];
  const noted = noteHits(text, new Map(mutants.entries()));
  const context = { mutantHit: (index: number) => seen.push(index), g: () => undefined, h: undefined };
  runInNewContext(noted, context);
  expect(context.h).toEqual([3]);
  expect(new Set(seen)).toEqual(new Set(mutants.keys()));
});

test('The nearest tests are those with the fewest imports between', () => {
  const source = (path: string, ...files: string[]) => ({ path, text: '', files, packages: [] });
  const sources = [
    source('a.ts', 'c.ts'),
    source('b.ts', 'a.ts'),
    source('c.ts', 'a.ts'),
    source('near.test.ts', 'a.ts', 'b.ts'),
    source('far.test.ts', 'b.ts'),
    source('other.test.ts'),
  ];
  expect([...distancesTo('a.ts', sources)]).toEqual([
    ['near.test.ts', 1],
    ['far.test.ts', 2],
  ]);
});

test('A share is told with what a sample of its size cannot tell', () => {
  const outcomes = [...Array<boolean>(41).fill(true), ...Array<boolean>(9).fill(false)];
  expect(showShare(shareOf(outcomes))).toBe('41 of 50 (82 %, with 95 % confidence 69 to 90 %)');
  expect(showShare(shareOf([true]))).toBe('1 of 1 (100 %, with 95 % confidence 21 to 100 %)');
  expect(showShare(shareOf([]))).toBe('none');
});
