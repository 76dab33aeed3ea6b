import { DirectoryInUse } from '../database/embedded/directory-lock.ts';
import { Unavailable } from '../kernel/errors.ts';
import { MAX_REASON_LENGTH } from '../protocol/fields.ts';
import type { ChangedBy } from '../stores/journal/contract.ts';
import { tellFault } from './tell-fault.ts';
import { exitCode, type Output } from './terminal.ts';

// Shared by commands that change the database themselves, alongside a server.

/** The arguments are wrong; the message says how. */
export class UsageError extends Error {}

/** @param what name in the message, such as `--tenant` @throws UsageError if the value is missing */
export function need(value: string | undefined, what: string): string {
  if (value === undefined || value.trim() === '') throw new UsageError(`${what} is missing`);
  return value;
}

/** @param reason that was given for a change @returns who makes the change @throws UsageError if the reason is longer than those of the API */
export function byCommand(reason: string | undefined): ChangedBy {
  if ((reason?.length ?? 0) > MAX_REASON_LENGTH)
    throw new UsageError(`--reason has at most ${MAX_REASON_LENGTH} characters`);
  return { actor: 'cli', role: 'cli', reason: reason ?? null };
}

/**
 * Prints why a command did nothing.
 * @param usage how to call the command
 * @param besideServer what to do instead while a server runs on the embedded database
 * @returns the exit code: 64 for wrong arguments, 69 when the database is away or in use, otherwise that of `tellFault`
 * @throws the error when it is a fault of ours
 */
export function explainFault(error: unknown, usage: string, besideServer: string, err: Output): number {
  if (error instanceof UsageError || isParseError(error)) {
    err.write(`${error.message}\n${usage}`);
    return exitCode.usage;
  }
  if (error instanceof DirectoryInUse) {
    err.write(
      `A server is running on the embedded database in DATA_DIR, which serves one process at a time.\n${besideServer}`,
    );
    return exitCode.unavailable;
  }
  if (error instanceof Unavailable) {
    err.write(`${error.message}; nothing is known to be changed. Check DATABASE_URL and try again.\n`);
    return exitCode.unavailable;
  }
  return tellFault(error, err);
}

function isParseError(error: unknown): error is Error {
  return error instanceof TypeError && String((error as NodeJS.ErrnoException).code).startsWith('ERR_PARSE_ARGS');
}
