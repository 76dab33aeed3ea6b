import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database } from '../../src/database/database.ts';
import { openEmbedded } from '../../src/database/embedded/embedded.ts';
import { migrate } from '../../src/database/migrate.ts';
import { Unavailable } from '../../src/kernel/errors.ts';

/** A real, migrated database in a directory of its own, that can be taken away, that can be held up, and that counts what it is asked. */
export class TestDatabase implements Database {
  readonly kind = 'embedded';
  isAway = false;
  /** How many questions it answers before it is away. */
  answersLeft = Infinity;
  asked = 0;
  readonly #real: Database;
  readonly #directory: string;
  readonly #underWay = new Set<Promise<unknown>>();

  private constructor(real: Database, directory: string) {
    this.#real = real;
    this.#directory = directory;
  }

  static async open(): Promise<TestDatabase> {
    const directory = await mkdtemp(join(tmpdir(), 'switchboard-test-'));
    const real = await openEmbedded({ directory: join(directory, 'postgres') });
    await migrate(real);
    return new TestDatabase(real, directory);
  }

  run: Database['run'] = async (work, options) => {
    this.#ask();
    const answer = this.#real.run(work, options);
    this.#underWay.add(answer);
    return answer.finally(() => this.#underWay.delete(answer));
  };

  transaction: Database['transaction'] = async (work, options) => {
    this.#ask();
    return this.#real.transaction(work, options);
  };

  async ping(): Promise<void> {
    this.#ask();
    await this.#real.ping();
  }

  /** The next answer is read at once, but told only after the returned function is called. */
  holdNextAnswer(): () => void {
    const { run } = this;
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.run = async (work, options) => {
      this.run = run;
      const answer = await run(work, options);
      await gate;
      return answer;
    };
    return () => release();
  }

  /** Resolves when all that was asked is answered, and those who asked have heard it. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
    await new Promise((resolve) => setImmediate(resolve));
  }

  async close(): Promise<void> {
    await this.#real.close();
    await rm(this.#directory, { recursive: true, force: true });
  }

  #ask(): void {
    this.asked += 1;
    this.answersLeft -= 1;
    if (this.isAway || this.answersLeft < 0) throw new Unavailable('database');
  }
}
