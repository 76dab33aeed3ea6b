import { join } from 'node:path';
import { type Database, patientWhile, type Patience, PATIENT, type Sql } from './database.ts';
import { openEmbedded } from './embedded/embedded.ts';
import { setTimeout as pause } from 'node:timers/promises';
import { isTooEarly } from './faults.ts';
import postgres from 'postgres';
import { MINUTE_MS, SECOND_MS } from '../kernel/time.ts';
import { driverOptions } from './statements.ts';
import { Pool } from './pool.ts';

/** Where the database is, in the words of the configuration. */
export interface DatabasePlace {
  readonly databaseUrl: string | undefined;
  readonly dataDir: string;
  /** How long a call may take, in milliseconds; by default the engine's own. */
  readonly databaseDeadlineMs?: number | undefined;
}

/**
 * Opens the configured database, the one at DATABASE_URL or else the embedded one in DATA_DIR, and waits until it has answered.
 * @param patience of its work; a command's is always that of a start
 * @throws DirectoryInUse, UnusableDirectory for an embedded one; Unavailable for one that does not answer
 */
export async function openDatabase(
  { databaseUrl, dataDir, databaseDeadlineMs }: DatabasePlace,
  patience: Readonly<Patience> = { isPatient: true },
): Promise<Database> {
  const deadline = databaseDeadlineMs === undefined ? {} : { deadlineMs: databaseDeadlineMs };
  if (databaseUrl === undefined)
    return patientWhile(await openEmbedded({ directory: join(dataDir, 'postgres'), ...deadline }), patience);
  const database = patientWhile(openExternal({ url: databaseUrl, patience, ...deadline }), patience);
  try {
    await awaitFirstAnswer(database);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** How long a start waits for a database that is there but does not serve yet, in milliseconds; a stop meanwhile takes at most ten seconds. */
const PATIENCE_MS = 8_000;
const PAUSE_MS = 250;

export interface FirstAnswerOptions {
  readonly now: () => number;
  readonly pause: (ms: number) => Promise<unknown>;
}

/**
 * Resolves when the database has answered. A start has nothing else to do, so it is more patient than a request: it asks again while the server
 * starts, recovers or is too busy to answer in time. What time does not cure (nobody listens, a wrong password) is reported at once.
 *
 * @throws Unavailable with the last cause
 */
export async function awaitFirstAnswer(
  database: Pick<Database, 'ping'>,
  waiting: FirstAnswerOptions = { now: () => performance.now(), pause },
): Promise<void> {
  const untilMs = waiting.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await database.ping();
    } catch (error) {
      if (!isTooEarly(error) || waiting.now() >= untilMs) throw error;
    }
    await waiting.pause(PAUSE_MS);
  }
}

export interface ExternalOptions {
  /** `postgres://user:password@host:port/name`; parameters of postgres.js (`sslmode`, `prepare=false`) may follow. */
  readonly url: string;
  /** The most connections of this node. */
  readonly maxConnections?: number;
  /** Milliseconds until a caller gets `Unavailable`. */
  readonly deadlineMs?: number;
  /** How long a connection may be idle before it is closed; a minute by default. */
  readonly idleMs?: number;
  /** While it is patient, connecting may take as long as the work of a start. */
  readonly patience?: Readonly<Patience>;
}

const MAX_BACKOFF_SEC = 0.5;

/** Together with one unanswered call to Redis (see `openRedis`), a request is still answered within 1.5 s. */
const DEADLINE_MS = 800;

/**
 * PostgreSQL at a URL. Connects with the first query, so that a node starts (and says so) even while its database is away.
 *
 * @throws TypeError when the URL cannot be parsed.
 */
export function openExternal(options: ExternalOptions): Database {
  const { url, maxConnections = 10, deadlineMs = DEADLINE_MS, idleMs = MINUTE_MS, patience } = options;
  const connect = (): Sql =>
    postgres(url, {
      max: maxConnections,
      connect_timeout: (patience?.isPatient === true ? PATIENT.deadlineMs : deadlineMs) / 1000,
      backoff: (attempts) => Math.min(MAX_BACKOFF_SEC, 0.05 * 2 ** attempts),
      idle_timeout: idleMs / SECOND_MS,
      max_lifetime: 30 * 60,
      keep_alive: 30,
      connection: { application_name: 'switchboard' },
      ...driverOptions,
    }) as unknown as Sql;

  return new Pool({
    kind: 'postgres',
    connect,
    size: maxConnections,
    deadlineMs,
    graceMs: deadlineMs,
    armTransaction(sql, deadlineMs) {
      // A transaction that its caller has given up must not hold locks, even if this node or the network is gone.
      // JIT compilation takes tens of milliseconds each time a plan looks more expensive than it is: nothing here runs long enough to be worth it.
      const settings = `set local jit = off; set local statement_timeout = ${deadlineMs}; set local idle_in_transaction_session_timeout = ${deadlineMs}`;
      sql.unsafe(settings).then(
        () => {},
        () => {},
      );
    },
  });
}
