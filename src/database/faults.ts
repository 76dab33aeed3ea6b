import postgres from 'postgres';
import { Unavailable } from '../kernel/errors.ts';

/** The embedded database's worker has stopped; used like a system error code. */
export const EMBEDDED_GONE = 'EMBEDDED_GONE';

/** A call was given up because nothing came in time; used like a system error code. */
export const NO_ANSWER = 'NO_ANSWER';

/** The same for a server that had answered before: it is there, but slow or busy; used like a system error code. */
export const TOO_SLOW = 'TOO_SLOW';

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
 * SQLSTATE classes and codes that mean that the server cannot serve now, whatever the SQL: 08 connection; 28 and 3D000 the login is refused; 53 out
 * of resources (such as too many connections); 57P0x shutdown or recovery; 57014 and 25P03 our own server-side deadlines; 25006 a standby after a
 * failover; 42501 the role lacks a right that it had or needs; 58 a fault of the server's disk or system.
 */
const serverStates = /^(?:08...|28...|3D000|53...|57P0.|57014|25P03|25006|42501|58...)$/;

/** Serialization failure and deadlock: the work lost against other work and was undone; another try may succeed. */
const lostStates: ReadonlySet<string> = new Set(['40001', '40P01']);

/** The code of the server, of the driver or of the system; empty if there is none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** How Node and OpenSSL name the ways in which a certificate or a handshake is refused. */
const tlsFault =
  /^(?:ERR_TLS_|ERR_SSL_|CERT_|EPROTO$|UNABLE_TO_|SELF_SIGNED_CERT_|DEPTH_ZERO_SELF_SIGNED_CERT$|HOSTNAME_MISMATCH$)/;

/** True when no connection may be trusted, or the two sides could not agree on one. */
export function isTlsFault(error: unknown): boolean {
  const code = codeOf(error);
  // A server without TLS hangs up during the handshake: only Node's words distinguish that from any other hang-up.
  return tlsFault.test(code) || (code === 'ECONNRESET' && (error as Error).message.includes('TLS'));
}

/** True for an error that the server itself reported, about the SQL or the session. */
export function isServerError(error: unknown): error is postgres.PostgresError {
  return error instanceof postgres.PostgresError;
}

/** The server's words when a role lacks a right (SQLSTATE 42501), even inside `Unavailable`; undefined for every other fault. */
export function permissionDenied(error: unknown): string | undefined {
  const fault = error instanceof Unavailable ? error.cause : error;
  return fault instanceof postgres.PostgresError && fault.code === '42501' ? fault.message : undefined;
}

/** True if the fault lies with the server or the way to it, not with the SQL. */
export function isConnectionFault(error: unknown): boolean {
  const code = codeOf(error);
  return error instanceof postgres.PostgresError
    ? serverStates.test(code)
    : connectionCodes.has(code) || isTlsFault(error);
}

/** True if no connection could be made in time although something may listen there. */
export function isConnectTimeout(error: unknown): boolean {
  return codeOf(error) === 'CONNECT_TIMEOUT';
}

/** What a server that starts, stops or is overloaded may say or do; a server that is not there does none of this. */
const earlyCodes: ReadonlySet<string> = new Set([
  NO_ANSWER,
  TOO_SLOW,
  'CONNECT_TIMEOUT',
  'CONNECTION_CLOSED',
  'ECONNRESET',
  '53300',
  '57P01',
  '57P02',
  '57P03',
]);

/** True for `Unavailable` of a database that is there and may well serve in a moment. */
export function isTooEarly(error: unknown): boolean {
  return error instanceof Unavailable && earlyCodes.has(codeOf(error.cause)) && !isTlsFault(error.cause);
}

/** True if a connection died during its work. */
export function isConnectionLost(error: unknown): boolean {
  return codeOf(error) === 'CONNECTION_CLOSED';
}

/** True if the server refuses writes but may still answer reads: it is read-only (25006), or its disk is full (53100). */
export function takesNoWrites(error: unknown): boolean {
  return isReadOnly(error) || codeOf(error) === '53100';
}

/** True if the server takes no writes: it is a standby now, and another server is behind the same name. */
export function isReadOnly(error: unknown): boolean {
  return codeOf(error) === '25006';
}

/** `Unavailable` for connection faults and for work that lost against other work; every other error as it is. */
export function translateFault(error: unknown): unknown {
  return isConnectionFault(error) || lostStates.has(codeOf(error)) ? new Unavailable('database', error) : error;
}

/**
 * True for one fault of postgres.js 3.4.9: when a back end dies inside a transaction, the driver queues its rollback on the closed
 * connection and `nextWrite` throws from setImmediate, where no caller can catch it. The caller has its rejection already
 * (CONNECTION_CLOSED) and the pool replaces the spoilt connection, so nothing is lost by going on
 * (docs/decisions/0012-types-and-guard-of-the-driver.md).
 */
function isDriverFault(error: unknown): boolean {
  if (!(error instanceof TypeError) || error.message !== "Cannot read properties of null (reading 'write')") {
    return false;
  }
  const origin = error.stack?.split('\n').find((line) => line.startsWith('    at '));
  return origin !== undefined && /^ {4}at (?:Immediate\.)?nextWrite(?:\$\d+)?(?: \[as _onImmediate\])? \(/.test(origin);
}

export interface DriverGuardOptions {
  /** Called with each fault that was kept from ending the process. */
  readonly onFault?: (error: unknown) => void;
  /** Called with every other uncaught exception. Without it the exception is thrown again, which ends the process. */
  readonly onOther?: (error: unknown) => void;
}

/**
 * Keeps the process alive after an `isDriverFault`, and after nothing else. Install it once, in `main`.
 *
 * @returns a function that removes the guard.
 */
export function installDriverGuard({ onFault, onOther }: DriverGuardOptions = {}): () => void {
  const guard = (error: unknown): void => {
    if (isDriverFault(error)) {
      onFault?.(error);
    } else if (onOther) {
      onOther(error);
    } else {
      throw error;
    }
  };
  process.on('uncaughtException', guard);
  return () => void process.off('uncaughtException', guard);
}
