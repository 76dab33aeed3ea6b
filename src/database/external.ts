import postgres from 'postgres';
import { PATIENT, type Database, type Sql, type Patience } from './database.ts';
import { MINUTE_MS, SECOND_MS } from '../kernel/time.ts';
import { driverOptions } from './statements.ts';
import { Pool } from './pool.ts';

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
