import postgres from 'postgres';
import { Unavailable } from '../kernel/errors.ts';

/** The embedded database's worker is gone; used like a system error code. */
export const EMBEDDED_GONE = 'EMBEDDED_GONE';

/** Codes of the driver and of the operating system that mean "no conversation with the server". */
const connectionCodes: ReadonlySet<string> = new Set([
  EMBEDDED_GONE,
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  'CONNECT_TIMEOUT',
  'EAI_AGAIN',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'EMFILE',
  'ENETDOWN',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'EPIPE',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_WRITE_AFTER_END',
  'ETIMEDOUT',
]);

/**
 * SQLSTATE classes and codes by which the server says that it cannot serve now, whatever the SQL: 08 connection, 28 and 3D000
 * the login is refused, 53 out of resources (too many connections), 57P0x shutdown or recovery, 57014 and 25P03 our own server-side
 * deadlines, 25006 a standby after a failover.
 */
const serverStates = /^(?:08...|28...|3D000|53...|57P0.|57014|25P03|25006)$/;

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** True when the fault lies with the server or the way to it, not with the SQL. */
export function isConnectionFault(error: unknown): boolean {
  const code = codeOf(error);
  return error instanceof postgres.PostgresError ? serverStates.test(code) : connectionCodes.has(code);
}

/** True when no connection could be made in time although something may listen there. */
export function isConnectTimeout(error: unknown): boolean {
  return codeOf(error) === 'CONNECT_TIMEOUT';
}

/** `Unavailable` for connection faults, every other error as it is. */
export function translateFault(error: unknown): unknown {
  return isConnectionFault(error) ? new Unavailable('database', error) : error;
}
