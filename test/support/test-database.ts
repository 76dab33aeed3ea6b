import { join } from 'node:path';
import { inject } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { openEmbedded } from '../../src/database/embedded/embedded.ts';
import { migrate } from '../../src/database/migrate.ts';
import { Unavailable } from '../../src/kernel/errors.ts';
import { PassiveHealth } from '../../src/kernel/passive-health.ts';
import { randomId } from '../../src/kernel/ids.ts';
import { PATIENT_MS } from './soon.ts';

let worker: Promise<Database> | undefined;

/** The migrated database of this worker: opened for its first file, since a start costs a second, and removed with the run's folder. */
async function openForWorker(): Promise<Database> {
  const directory = join(inject('runDirectory'), `postgres-${process.pid}-${randomId()}`);
  const database = await openEmbedded({ directory, deadlineMs: PATIENT_MS });
  await migrate(database);
  return database;
}

/** Restores the state right after the migrations. */
async function empty(database: Database): Promise<void> {
  await database.transaction(async (sql) => {
    const tables = await sql<{ name: string }[]>`
      select quote_ident(tablename) as name from pg_tables
      where schemaname = 'public' and tablename <> 'schema_migration'`;
    // Foreign keys must not prevent the deletes.
    await sql`set local session_replication_role = replica`;
    await sql.unsafe(tables.map(({ name }) => `delete from ${name};`).join('\n'));
  });
}

/** A real, migrated, empty database that can be made unavailable or delayed and that counts its queries; only one at a time. */
export class TestDatabase implements Database {
  readonly kind = 'embedded';
  isAway = false;
  /** How many queries it answers before it becomes unavailable. */
  answersLeft = Infinity;
  asked = 0;
  /** The time that its health sees, in milliseconds, advanced by hand. */
  passedMs = 0;
  readonly health = new PassiveHealth(() => this.passedMs);
  readonly #real: Database;
  readonly #underWay = new Set<Promise<unknown>>();

  private constructor(real: Database) {
    this.#real = real;
  }

  static async open(): Promise<TestDatabase> {
    const real = await (worker ??= openForWorker());
    await empty(real);
    return new TestDatabase(real);
  }

  run: Database['run'] = async (work, options) => {
    this.#ask();
    const answer = this.#real.run(work, options);
    this.#underWay.add(answer);
    return this.#heard(answer).finally(() => this.#underWay.delete(answer));
  };

  transaction: Database['transaction'] = async (work, options) => {
    this.#ask();
    return this.#heard(this.#real.transaction(work, options));
  };

  async ping(): Promise<void> {
    this.#ask();
    await this.#real.ping();
  }

  /** Runs the next query at once but returns its answer only after the returned function is called. */
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

  /** Resolves when all queries are answered and their callers have received the answers. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** The database itself stays open for the next test file. */
  close(): Promise<void> {
    return this.settled();
  }

  #ask(): void {
    this.asked += 1;
    this.answersLeft -= 1;
    if (!this.isAway && this.answersLeft >= 0) return;
    const fault = new Unavailable('database');
    this.health.refused(fault);
    throw fault;
  }

  async #heard<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } finally {
      this.health.served();
    }
  }
}
