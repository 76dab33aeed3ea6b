import pino from 'pino';
import pretty from 'pino-pretty';
import { withoutAddresses, withoutDisguises, withoutProofs } from './private.ts';

export type Log = pino.Logger;

/** Names under which a secret could be logged by mistake, at the top or one level down. */
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
 * @param destination takes the JSON lines in the place of standard output
 */
export function createLog(level: string, readable: boolean, destination?: pino.DestinationStream): Log {
  const options: pino.LoggerOptions = {
    level,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: secretNames.flatMap((name) => [`["${name}"]`, `*["${name}"]`]), censor: '[redacted]' },
    serializers: { err: describeError },
    // Whatever field repeats a path or an error: a session's id is its caller's proof, and a stranger's text may pose as another line.
    hooks: { streamWrite: (line) => withoutDisguises(withoutProofs(line)) },
    // A name that nobody uses: pino would copy the message of an error under it past the serializer.
    errorKey: 'thrown',
  };
  if (!readable) return pino(options, destination ?? pino.destination({ sync: true }));
  return pino(options, pretty({ sync: true, colorize: true, translateTime: 'SYS:HH:MM:ss', ignore: 'pid,hostname' }));
}

/** An error without the properties that drivers hang on it, and without addresses: queries, parameters and answers may hold secrets. */
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
