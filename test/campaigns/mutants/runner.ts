import { join, relative } from 'node:path';
import type { createVitest, Reporter, TestCase, TestModule, TestSpecification, Vitest } from 'vitest/node';

/** Of the package that the tests of the checkout import. */
export type CreateVitest = typeof createVitest;

/** Why a run of test files did not pass. */
export interface Failure {
  /** `clock`: no test ended for too long. */
  readonly by: 'test' | 'clock';
  readonly text: string;
}

/** What a run of test files showed. */
export interface Run {
  readonly failure: Failure | undefined;
  /** Milliseconds by test file, of those that passed. */
  readonly passedMs: ReadonlyMap<string, number>;
  /** The longest time in which no test ended, which tells how slow the machine is. */
  readonly quietMs: number;
}

/** After the first failure, tests in other processes have this long to end. */
const GRACE_MS = 15_000;

/** A process of tests that Vitest waited for in vain says nothing about the code. */
const NOT_STARTED = '[vitest-pool]: Failed to start';

/** Runs test files of a copy again and again, without starting Vitest anew. */
export class Runner {
  readonly #vitest: Vitest;
  readonly #root: string;
  readonly #watch: Watch;

  private constructor(vitest: Vitest, root: string, watch: Watch) {
    this.#vitest = vitest;
    this.#root = root;
    this.#watch = watch;
  }

  /** @param options `hits`: test files tell what they reach; `bail`: the first failure ends a run, of files in the order that they are given */
  static async start(create: CreateVitest, root: string, options: { hits: boolean; bail: boolean }): Promise<Runner> {
    process.env['MUTANT_HITS'] = options.hits ? 'yes' : '';
    const watch = new Watch(root);
    const vitest = await create('test', {
      root,
      config: join(root, '.mutants/vitest.config.ts'),
      watch: false,
      bail: options.bail ? 1 : 0,
      reporters: [watch],
      onConsoleLog: () => false,
      ...(options.bail && { sequence: { sequencer: InOrder } }),
    });
    return new Runner(vitest, root, watch);
  }

  /** The paths of all test files in folders of the copy. */
  async testFiles(folders: readonly string[]): Promise<string[]> {
    const all = await this.#vitest.globTestSpecifications();
    const paths = all.map(({ moduleId }) => relative(this.#root, moduleId));
    return paths.filter((path) => folders.some((folder) => path.startsWith(`${folder}/`))).toSorted();
  }

  /** Tells Vitest that a file of the copy has changed. */
  changed(path: string): void {
    this.#vitest.invalidateFile(join(this.#root, path));
  }

  /** Runs test files, in their order, and stops them when none of their tests ends for `stallMs`. */
  async run(paths: readonly string[], stallMs: number): Promise<Run> {
    const project = this.#vitest.getRootProject();
    const specs = paths.map((path) => project.createSpecification(join(this.#root, path)));
    this.#watch.reset();
    let isStalled = false;
    const clock = setInterval(() => {
      const quietMs = Date.now() - this.#watch.atMs;
      const isLate = this.#watch.failure !== undefined && quietMs > GRACE_MS;
      if (isStalled || (quietMs <= stallMs && !isLate)) return;
      isStalled = true;
      // The second time, Vitest does not wait for what runs.
      void this.#vitest.cancelCurrentRun('keyboard-input');
      void this.#vitest.cancelCurrentRun('keyboard-input');
    }, 1000);
    try {
      const { unhandledErrors } = await this.#vitest.runTestSpecifications(specs);
      const { failure, passedMs, quietMs } = this.#watch;
      const text = failure ?? unhandledErrors.map(messageOf)[0];
      // Stopping a run is an error as well.
      if (isStalled && failure === undefined)
        return { passedMs, quietMs, failure: { by: 'clock', text: `no test ended for ${stallMs / 1000} s` } };
      const by = text?.startsWith(NOT_STARTED) ? 'clock' : 'test';
      return { passedMs, quietMs, failure: text === undefined ? undefined : { by, text } };
    } finally {
      clearInterval(clock);
    }
  }

  async close(): Promise<void> {
    await this.#vitest.close();
  }
}

/** Notes the durations of the tests' files, the first failure, and the longest time in which no test ended. */
class Watch implements Reporter {
  atMs = Date.now();
  failure: string | undefined;
  passedMs = new Map<string, number>();
  quietMs = 0;
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  reset(): void {
    this.atMs = Date.now();
    this.failure = undefined;
    this.passedMs = new Map();
    this.quietMs = 0;
  }

  #heard(): void {
    this.quietMs = Math.max(this.quietMs, Date.now() - this.atMs);
    this.atMs = Date.now();
  }

  onTestModuleCollected(): void {
    this.#heard();
  }

  onTestCaseResult(test: TestCase): void {
    this.#heard();
    if (test.result().state === 'failed')
      this.failure ??= `${relative(this.#root, test.module.moduleId)}: ${test.fullName}`;
  }

  onTestModuleEnd(module: TestModule): void {
    this.#heard();
    const path = relative(this.#root, module.moduleId);
    if (module.state() !== 'failed') this.passedMs.set(path, module.diagnostic().duration);
    // Its files could not be loaded, or a hook failed.
    else this.failure ??= `${path}: ${messageOf(module.errors()[0])}`;
  }
}

class InOrder {
  sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return Promise.resolve(files);
  }

  shard(files: TestSpecification[]): Promise<TestSpecification[]> {
    return Promise.resolve(files);
  }
}

function messageOf(error: unknown): string {
  const { message } = (error ?? {}) as { message?: unknown };
  return typeof message === 'string' ? (message.split('\n')[0] ?? '') : 'an error outside of the tests';
}
