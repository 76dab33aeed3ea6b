import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A copy of a checkout, in which files can be changed. */
export interface Copy {
  readonly root: string;
  /** Where test files write what they reached: see `hits.ts`. */
  readonly hitsFile: string;
  write(path: string, text: string): void;
  remove(): void;
}

/** What a copy shares with the checkout, or does without. */
const SHARED = ['node_modules', 'dist'];
const LEFT = ['.git', 'data', 'packed', 'coverage'];

/** Copies a checkout, with what is not committed, to a temporary folder. */
export function copyOf(checkout: string): Copy {
  const root = mkdtempSync(join(tmpdir(), 'switchboard-mutants-'));
  const left = new Set([...SHARED, ...LEFT].map((name) => join(checkout, name)));
  cpSync(checkout, root, { recursive: true, filter: (path) => !left.has(path) });
  for (const name of SHARED) symlinkSync(join(checkout, name), join(root, name));
  const folder = join(root, '.mutants');
  mkdirSync(folder);
  const hitsFile = join(folder, 'hits.jsonl');
  const write = (path: string, text: string): void => writeFileSync(join(root, path), text);
  write('.mutants/hits.ts', HITS.replace('HITS_FILE', JSON.stringify(hitsFile)));
  write('.mutants/vitest.config.ts', CONFIG);
  write('.mutants/tsconfig.json', JSON.stringify(TSCONFIG));
  return { root, hitsFile, write, remove: () => rmSync(root, { recursive: true, force: true }) };
}

/** Written for the run without a mutant: each test file tells which of the sampled places it reached. */
const HITS = `import { appendFileSync } from 'node:fs';
import { afterAll, expect } from 'vitest';
const hits = new Set<number>();
globalThis.mutantHit = (index: number) => hits.add(index);
afterAll(() => appendFileSync(HITS_FILE, JSON.stringify({ test: expect.getState().testPath, hits: [...hits] }) + '\\n'));
`;

/** The checkout's own configuration. What was translated for a mutant is not stored. */
const CONFIG = `import { mergeConfig } from 'vitest/config';
import whole from '../vitest.config.ts';
const setupFiles = process.env['MUTANT_HITS'] ? ['.mutants/hits.ts'] : [];
export default mergeConfig(whole, { test: { setupFiles, experimental: { fsModuleCache: false } } });
`;

/** What the compiler has found stays true for files that a mutant does not concern. */
const TSCONFIG = {
  extends: '../tsconfig.json',
  compilerOptions: { incremental: true, tsBuildInfoFile: 'tsbuildinfo' },
  include: ['../src/**/*.ts', '../machines/**/*.ts'],
  exclude: ['../src/web'],
};
