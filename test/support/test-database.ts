import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database } from '../../src/database/database.ts';
import { openEmbedded } from '../../src/database/embedded/embedded.ts';
import { migrate } from '../../src/database/migrate.ts';
import { Unavailable } from '../../src/kernel/errors.ts';

/** A real, migrated database in a directory of its own, that can be taken away and that counts what it is asked. */
export class TestDatabase implements Database {
  readonly kind = 'embedded';
  isAway = false;
  asked = 0;
  readonly #real: Database;
  readonly #directory: string;

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
    return this.#real.run(work, options);
  };

  transaction: Database['transaction'] = async (work, options) => {
    this.#ask();
    return this.#real.transaction(work, options);
  };

  async ping(): Promise<void> {
    this.#ask();
    await this.#real.ping();
  }

  async close(): Promise<void> {
    await this.#real.close();
    await rm(this.#directory, { recursive: true, force: true });
  }

  #ask(): void {
    this.asked += 1;
    if (this.isAway) throw new Unavailable('database');
  }
}
