import type postgres from 'postgres';
import type { WorkHealth } from '../kernel/passive-health.ts';
import { MINUTE_MS } from '../kernel/time.ts';

/** How int8 columns and parameters look in TypeScript; see `statements.ts`. */
export interface DriverTypes extends Record<string, unknown> {
  readonly int8: number | bigint;
}

/** The driver outside a transaction: each query may use another connection. */
export type Sql = postgres.Sql<DriverTypes>;

/** The driver inside a transaction. */
export type TransactionSql = postgres.TransactionSql<DriverTypes>;

/** What `Sql` and `TransactionSql` share: take this in helpers that serve both. */
export type AnySql = postgres.ISql<DriverTypes>;

export interface WorkOptions {
  /** Milliseconds until the caller gets `Unavailable`; by default the engine's, which is a request's patience. */
  readonly deadlineMs?: number;
}

/**
 * The patience of a start, and of work that no request waits for: it ends what hangs, but nothing that is only large or late. Each statement of such
 * work must be small all the same, because others wait behind it (docs/architecture.md, section 5).
 */
export const PATIENT: Required<WorkOptions> = { deadlineMs: MINUTE_MS };

/** How many rows one statement of large work writes or reads. */
export const CHUNK_ROWS = 1000;

/**
 * PostgreSQL, embedded in this process or elsewhere; everything that must never be lost is stored through it.
 *
 * Both kinds speak the same SQL, with these limits: no LISTEN/NOTIFY, no COPY FROM STDIN, and one connection in the embedded kind, so a transaction
 * must not wait for anything but its own queries. int8 arrives as a number (a value beyond 2^53 is a fault), numeric as a string: cast `sum(...)` to
 * int8.
 */
export interface Database {
  readonly kind: 'embedded' | 'postgres';

  /** How the work of the last seconds fared. */
  readonly health: WorkHealth;

  /**
   * Runs queries that need no common transaction.
   *
   * @throws Unavailable when the database is away, frozen or slower than the deadline. A write may have happened nevertheless.
   * @throws postgres.PostgresError for faults of the SQL itself (constraint, syntax), as they are.
   */
  run<T>(work: (sql: Sql) => Promise<T>, options?: WorkOptions): Promise<T>;

  /**
   * Runs `work` in one transaction: committed when it resolves, rolled back when it rejects.
   *
   * @throws Unavailable as `run` does; whether the commit happened is then unknown, so make writes idempotent.
   * @throws whatever `work` throws.
   */
  transaction<T>(work: (sql: TransactionSql) => Promise<T>, options?: WorkOptions): Promise<T>;

  /** @throws Unavailable when the database does not answer within the deadline. */
  ping(): Promise<void>;

  /** Gives running work a moment to end, then releases all connections, threads and locks. Safe to call twice. */
  close(): Promise<void>;
}

/** Whether work may take as long as that of a start; the code that starts the service says when this is over. */
export interface Patience {
  isPatient: boolean;
}

/**
 * The same database, whose work has the patience of a start while `patience` says so; work with a deadline of its own keeps that. A start or a
 * command asks many things that a request asks too, but cannot do without the answers.
 */
export function patientWhile(database: Database, patience: Readonly<Patience>): Database {
  const optionsOf = (options: WorkOptions | undefined): WorkOptions => options ?? (patience.isPatient ? PATIENT : {});
  return {
    kind: database.kind,
    health: database.health,
    run: (work, options) => database.run(work, optionsOf(options)),
    transaction: (work, options) => database.transaction(work, optionsOf(options)),
    ping: () => database.ping(),
    close: () => database.close(),
  };
}

/**
 * The advisory locks of the service: numbers that no other user of the same database takes. The numbers must not change: processes of an older build
 * wait for the same ones.
 */
export const LOCKS = { migrations: 727_001, sessionTally: 727_002, holdSums: 727_003 } as const;

/** Locks with two numbers, of which this is the first. PostgreSQL keeps them apart from locks with one number. */
export const LOCK_CLASSES = { keySlots: 727_002, webhooks: 727_003, budgets: 727_004, savedViews: 727_005 } as const;
