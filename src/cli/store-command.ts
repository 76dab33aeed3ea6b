import { readConfig, type Config } from '../../config/config.ts';
import { DirectoryInUse } from '../database/embedded/directory-lock.ts';
import { systemClock, type Clock } from '../kernel/time.ts';
import { Unavailable } from '../kernel/errors.ts';
import { MAX_REASON_LENGTH, reasonGiven } from '../protocol/fields.ts';
import { Refusal } from '../protocol/refusal.ts';
import type { ChangedBy } from '../stores/journal/contract.ts';
import { tellFault } from './tell-fault.ts';
import { exitCode, fail, type Output, type Terminal } from './terminal.ts';

// Shared by commands that change the database themselves, alongside a server.

/** The arguments are wrong; the message says how. */
export class UsageError extends Error {}

/** @param what name in the message, such as `--tenant` @throws UsageError if the value is missing */
export function need(value: string | undefined, what: string): string {
  if (value === undefined || value.trim() === '') throw new UsageError(`${what} is missing`);
  return value;
}

/** An option with a value, for `parseArgs`. */
export const text = { type: 'string' } as const;

/** Who changes something by a command, as the journal records it. @throws UsageError if the reason is longer than those of the API */
export function byCommand(reason: string | undefined): ChangedBy {
  if ((reason?.length ?? 0) > MAX_REASON_LENGTH)
    throw new UsageError(`--reason has at most ${MAX_REASON_LENGTH} characters`);
  return { actor: 'cli', role: 'cli', reason: reasonGiven(reason) ?? null };
}

/** The stores that a command opens. */
export interface OpenStores {
  /** Sends what is still under way, and closes connections and locks. */
  close(): Promise<void>;
}

export interface StoreTerminal<S extends OpenStores> extends Terminal {
  /** @throws DirectoryInUse when a server runs on the embedded database; Unavailable when the database is away */
  readonly openStores: (config: Config) => Promise<S>;
}

/** What the errors of a command say. */
interface CommandWords {
  /** How to call the command. */
  readonly usage: string;
  /** What to do instead while a server runs on the embedded database. */
  readonly besideServer: string;
}

/** How to call commands, one line each. */
export function usageOf(commands: readonly { readonly usage: string }[]): string {
  return `Usage:\n${commands.map(({ usage }) => `  ${usage}`).join('\n')}\n`;
}

/** What a command does, and prints if it is not refused. */
export type StoreWork<S> = (deps: S & { readonly clock: Clock }, config: Config) => Promise<string | Refusal>;

/**
 * Runs a command on the stores of the server's own environment.
 * @param read parses the arguments, before anything is opened. @throws UsageError
 * @returns 0; 1 for a refusal, 64 for wrong arguments, 69 when the database is away or in use, 78 for wrong settings
 */
export async function runOnStores<S extends OpenStores>(
  words: CommandWords,
  { out, err, env, openStores }: StoreTerminal<S>,
  read: () => StoreWork<S> | Promise<StoreWork<S>>,
): Promise<number> {
  try {
    const work = await read();
    const config = readConfig(env, ['DATABASE_URL']);
    const stores = await openStores(config);
    try {
      const result = await work({ ...stores, clock: systemClock }, config);
      if (result instanceof Refusal) return fail(err, result.error, exitCode.refused);
      // In one write, because a reader such as `head` may close the pipe after the first lines.
      out.write(result);
      return exitCode.ok;
    } finally {
      await stores.close();
    }
  } catch (error) {
    return explainFault(error, words, err);
  }
}

/**
 * Prints why a command did nothing.
 * @returns the exit code: 64 for wrong arguments, 69 when the database is away or in use, otherwise that of `tellFault`
 * @throws the error when it is a fault of ours
 */
export function explainFault(error: unknown, { usage, besideServer }: CommandWords, err: Output): number {
  if (error instanceof UsageError || isParseError(error)) {
    err.write(`${error.message}\n${usage}`);
    return exitCode.usage;
  }
  if (error instanceof DirectoryInUse) {
    const why = 'A server is running on the embedded database in DATA_DIR, which serves one process at a time.';
    err.write(`${why}\n${besideServer}`);
    return exitCode.unavailable;
  }
  if (!(error instanceof Unavailable)) return tellFault(error, err);
  const why = `${error.message}; nothing is known to be changed. Check DATABASE_URL and try again.`;
  return fail(err, why, exitCode.unavailable);
}

function isParseError(error: unknown): error is Error {
  return error instanceof TypeError && String((error as NodeJS.ErrnoException).code).startsWith('ERR_PARSE_ARGS');
}
