import pino from 'pino';
import pretty from 'pino-pretty';
import { SECOND_MS } from '../kernel/time.ts';

export type Log = pino.Logger;

/** Field names under which a secret could be logged by mistake, at the top level or one below. */
const secretNames = [
  'authorization',
  'code',
  'cookie',
  'clientSecret',
  'client_secret',
  'email',
  'jwt',
  'password',
  'sealed',
  'secret',
  'set-cookie',
  'token',
];

/**
 * The service's log: JSON lines on standard output, or readable lines where `readable` is set (a terminal).
 * Writing is synchronous, so that nothing is lost when the process ends.
 * @param destination takes the JSON lines instead of standard output
 */
export function createLog(level: string, readable: boolean, destination?: pino.DestinationStream): Log {
  const options: pino.LoggerOptions = {
    level,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: secretNames.flatMap((name) => [`["${name}"]`, `*["${name}"]`]), censor: '[redacted]' },
    serializers: { err: describeError },
    // For every field, since any may repeat a path or an error: a session's id proves its caller, and a stranger's text may pose as a log line.
    hooks: { streamWrite: (line) => withoutDisguises(withoutProofs(line)) },
    // An unused name, because pino copies the message of an error under this key past the serializer.
    errorKey: 'thrown',
  };
  if (!readable) return pino(options, destination ?? pino.destination({ sync: true }));
  return pino(options, pretty({ sync: true, colorize: true, translateTime: 'SYS:HH:MM:ss', ignore: 'pid,hostname' }));
}

/** An error without the properties that drivers attach to it, and without addresses: queries, parameters and answers may contain secrets. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: withoutAddresses(String(error)) };
  const { name, message, stack = '' } = error;
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {};
  return {
    type: name,
    message: withoutAddresses(message),
    ...code,
    stack: withoutAddresses(stack),
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  };
}

/** Anything with an @ in it: mail servers repeat the recipient in their refusals. A path such as `node_modules/@redis` does not match. */
const address = /[^\s<>"'()/@]+(?:@|%40)[^\s<>"'(),;/]+/gi;

const CHARACTER = '(?:[\\w-]|%[0-9a-f]{2})';
const COLON = '(?::|%(?:25)*3a)';
/** An sm_session_id, percent-encoded or not: its ref (kernel/ids.ts), and the rest, which proves the caller. */
const proof = new RegExp(`((?:s|%73)${COLON}(?:[0-9a-f]|%[0-9a-f]{2}){32}${COLON}${CHARACTER}{7})${CHARACTER}+`, 'gi');

/** A ticket or client secret, percent-encoded or not. Our own messages contain only its prefix. */
const secret = new RegExp(`(?<![\\w-])(?:e|%65)(?:k|%6b)(?:_|%5f)${CHARACTER}{16,}`, 'gi');

/** Invisible characters that reverse or break a line or control a terminal; JSON leaves all of these as they are. */
const unseen = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Makes invisible characters in a JSON line visible as their numbers, so that parsing the line does not bring them back. */
function withoutDisguises(line: string): string {
  return line.replaceAll(unseen, (character) => `\\\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The text without e-mail addresses. Takes time quadratic in the length, so not for texts of arbitrary length. */
export function withoutAddresses(text: string): string {
  return text.replaceAll(address, '[address]');
}

/** The text with all session ids shortened, even partial ones, and without tickets and client secrets. */
function withoutProofs(text: string): string {
  return text.replaceAll(proof, '$1…').replaceAll(secret, 'ek_…');
}

/** How many entries of one kind are worth writing, and reading, in a second. */
const MAX_PER_SECOND = 50;

interface Window {
  readonly beganAtMs: number;
  count: number;
  /** How many were left out since the last one that was not. */
  leftOut: number;
}

/** Limits what is written under attack and during outages, when every request would write the same. */
export class PerSecondLimit {
  readonly #windows = new Map<string, Window>();

  /**
   * Asks whether one more may be written.
   * @param kind one of few
   * @param atMs of any monotonic clock
   * @returns undefined if enough of its kind were written, otherwise how many of its kind were left out before it
   */
  spend(kind: string, atMs: number): number | undefined {
    const present = this.#windows.get(kind);
    if (present === undefined || atMs - present.beganAtMs >= SECOND_MS) {
      this.#windows.set(kind, { beganAtMs: atMs, count: 1, leftOut: 0 });
      return present?.leftOut ?? 0;
    }
    if (present.count < MAX_PER_SECOND) {
      present.count += 1;
      return 0;
    }
    present.leftOut += 1;
    return undefined;
  }
}
