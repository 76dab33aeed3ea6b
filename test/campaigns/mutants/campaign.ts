import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { readSources, type SourceFile } from '../../support/imports.ts';
import { copyOf, type Copy } from './copy.ts';
import { reportOf, type Result } from './figures.ts';
import { noteHits, readHits } from './hits.ts';
import { distancesTo } from './nearest.ts';
import { Runner, type CreateVitest, type Failure } from './runner.ts';
import { drawMutants, type Sampled } from './sample.ts';

interface Options {
  readonly seed: number;
  readonly count: number;
  /** No further mutant is begun after this long. */
  readonly minutes: number;
  /** The checkout, of which a copy is changed. */
  readonly of: string;
  /** Folders of code to mutate, and of tests. */
  readonly in: readonly string[];
  readonly tests: readonly string[];
  /** The most test files to run for one mutant. */
  readonly files: number;
  /** Where all results are written. */
  readonly json: string;
  readonly createVitest: CreateVitest;
  say(line: string): void;
}

/** A run in which no test ends for this long is stopped, or for several times as long as none did without a mutant. */
const STALL_MS = 60_000;
const STALL_TIMES = 3;
/** Without a mutant, tests wait for each other's starts, and nothing hangs. */
const BASE_STALL_MS = 600_000;

/** Runs the tests that can see each mutant of a sample, in a copy of the checkout. Returns a report of what they did not notice. */
export async function runCampaign(options: Options): Promise<string> {
  const startedAtMs = Date.now();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130));
  const copy = copyOf(options.of);
  process.once('exit', () => copy.remove());
  process.chdir(copy.root);
  const { all, drawn } = drawMutants(copy.root, options.in, options.count, options.seed);
  options.say(
    `Seed ${options.seed}: ${drawn.length} of ${all} mutants. First all tests without one, to see what they reach.`,
  );
  const base = await runWithoutMutants(copy, drawn, options);
  options.say(`${base.passedMs.size} test files pass, and are run again for the mutants that they reach.`);
  if (base.failure) options.say(`These do not: ${base.failed.join(', ')}. The first failure: ${base.failure.text}`);
  const results = await runMutants(copy, drawn, base, options, startedAtMs + options.minutes * 60_000);
  mkdirSync(dirname(options.json), { recursive: true });
  writeFileSync(options.json, JSON.stringify({ seed: options.seed, all, results }, null, 2));
  return `${reportOf(results)}\n\nAll results: ${options.json}`;
}

interface Base {
  /** Milliseconds by test file. */
  readonly passedMs: ReadonlyMap<string, number>;
  readonly failed: readonly string[];
  readonly failure: Failure | undefined;
  readonly stallMs: number;
  /** Test files by the number of a mutant in the sample. */
  readonly hits: ReadonlyMap<number, ReadonlySet<string>>;
  readonly sources: readonly SourceFile[];
}

async function runWithoutMutants(
  copy: Copy,
  drawn: readonly Sampled[],
  { tests, createVitest }: Options,
): Promise<Base> {
  const sources = readSources(copy.root, ['src', 'machines', 'config', 'packages', 'test']);
  const texts = new Map([...new Set(drawn.map(({ path }) => path))].map((path) => [path, readFileSync(path, 'utf8')]));
  for (const [path, text] of texts)
    copy.write(path, noteHits(text, new Map([...drawn.entries()].filter(([, mutant]) => mutant.path === path))));
  const runner = await Runner.start(createVitest, copy.root, { hits: true, bail: false });
  try {
    const files = await runner.testFiles(tests);
    const { passedMs, failure, quietMs } = await runner.run(files, BASE_STALL_MS);
    if (passedMs.size === 0)
      throw new Error(`No test file passes without a mutant: ${failure?.text ?? 'there is none'}`);
    const failed = files.filter((file) => !passedMs.has(file));
    const stallMs = Math.max(STALL_MS, STALL_TIMES * quietMs);
    return { passedMs, failed, failure, stallMs, hits: readHits(copy.hitsFile, copy.root), sources };
  } finally {
    await runner.close();
    for (const [path, text] of texts) copy.write(path, text);
  }
}

async function runMutants(
  copy: Copy,
  drawn: readonly Sampled[],
  base: Base,
  options: Options,
  untilMs: number,
): Promise<Result[]> {
  const runner = await Runner.start(options.createVitest, copy.root, { hits: false, bail: true });
  const results: Result[] = [];
  try {
    for (const [index, mutant] of drawn.entries()) {
      if (Date.now() > untilMs) break;
      const startedAtMs = Date.now();
      const tests = testsOf(mutant, index, base);
      const result = await runMutant(mutant, tests, {
        copy,
        files: options.files,
        run: async (paths) => (await runner.run(paths, base.stallMs)).failure,
        changed: () => runner.changed(mutant.path),
      });
      const seconds = Math.round((Date.now() - startedAtMs) / 1000);
      results.push(result);
      options.say(
        `${index + 1}/${drawn.length} ${result.outcome}: ${mutant.path}:${mutant.line} (${seconds} s) ${result.by ?? ''}`,
      );
    }
    return results;
  } finally {
    await runner.close();
  }
}

/** The test files that reach a mutant, those with the fewest imports between first, of these the quickest first. */
function testsOf(mutant: Sampled, index: number, { hits, passedMs, sources }: Base): string[] {
  const distances = distancesTo(mutant.path, sources);
  // What runs while files are loaded is seen by all that import it, but noted only by the first of a process.
  const reaching = mutant.onLoad ? [...distances.keys()] : [...(hits.get(index) ?? [])];
  const orderOf = (path: string): number => (distances.get(path) ?? 99) * 1e9 + (passedMs.get(path) ?? 0);
  return reaching.filter((path) => passedMs.has(path)).toSorted((a, b) => orderOf(a) - orderOf(b));
}

interface Trial {
  readonly copy: Copy;
  readonly files: number;
  run(paths: readonly string[]): Promise<Failure | undefined>;
  changed(): void;
}

async function runMutant(mutant: Sampled, tests: readonly string[], trial: Trial): Promise<Result> {
  const text = readFileSync(mutant.path, 'utf8');
  trial.copy.write(mutant.path, text.slice(0, mutant.start) + mutant.text + text.slice(mutant.end));
  trial.changed();
  const paths = tests.slice(0, trial.files);
  const common = { ...mutant, reached: tests.length, ran: paths.length };
  try {
    // The nearest files notice most mutants, and for these the others need not run.
    for (const some of [paths.slice(0, 2), paths.slice(2)]) {
      const failure = some.length > 0 ? await trial.run(some) : undefined;
      if (failure !== undefined)
        return { ...common, outcome: failure.by === 'clock' ? 'stalled' : 'killed', by: failure.text };
    }
    const { status, stdout } = spawnSync('node_modules/.bin/tsc', ['-p', '.mutants'], { encoding: 'utf8' });
    if (status !== 0) return { ...common, outcome: 'refused', by: stdout.split('\n')[0] };
    return { ...common, outcome: 'survived', by: undefined };
  } finally {
    trial.copy.write(mutant.path, text);
    trial.changed();
  }
}
