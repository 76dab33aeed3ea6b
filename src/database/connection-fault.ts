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

/** Serialization failure and deadlock: the work lost against another and was undone; another try may do. */
const lostStates: ReadonlySet<string> = new Set(['40001', '40P01']);

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

/** True when a connection died under its work. */
export function isConnectionLost(error: unknown): boolean {
  return codeOf(error) === 'CONNECTION_CLOSED';
}

/** True when the server takes no writes: it is a standby now, and others are behind the same name. */
export function isReadOnly(error: unknown): boolean {
  return codeOf(error) === '25006';
}

/** `Unavailable` for connection faults and for what lost against other work, every other error as it is. */
export function translateFault(error: unknown): unknown {
  return isConnectionFault(error) || lostStates.has(codeOf(error)) ? new Unavailable('database', error) : error;
}
