import { ConfigError } from '../../config/config.ts';
import { StartFaults } from '../app/file-faults.ts';
import { codeOf as causeCodeOf, isServerError, isTlsFault, TOO_SLOW } from '../database/faults.ts';
import { UnusableDirectory } from '../database/embedded/directory.ts';
import { DirectoryInUse } from '../database/embedded/directory-lock.ts';
import { MigrationError } from '../database/migrate.ts';
import { Unavailable } from '../kernel/errors.ts';
import { TenantsFileError } from '../tenants/tenants-file.ts';
import { CannotLoad } from '../transport/load-uws.ts';
import { CannotListen } from '../transport/server.ts';
import { exitCode, type Output } from './terminal.ts';

/**
 * Prints what an operator must repair. @returns the exit code.
 * @throws the error when it is a fault of ours
 */
export function tellFault(error: unknown, err: Output): number {
  if (error instanceof StartFaults) {
    const codes = error.faults.map((fault) => tellFault(fault, err));
    return codes.find((code) => code === exitCode.config) ?? codes[0] ?? exitCode.refused;
  }
  const code = codeOf(error);
  if (code === undefined) throw error;
  err.write(`${faultText(error as Error)}\n`);
  return code;
}

/** The same text, for a command that continues in spite of the error. @throws the error when it is a fault of ours */
export function faultWords(error: unknown): string {
  if (codeOf(error) === undefined) throw error;
  return faultText(error as Error);
}

function codeOf(error: unknown): number | undefined {
  if (error instanceof ConfigError || error instanceof TenantsFileError) return exitCode.config;
  if (error instanceof DirectoryInUse || error instanceof UnusableDirectory || error instanceof MigrationError)
    return exitCode.unavailable;
  if (error instanceof Unavailable || isFileFault(error) || isServerError(error)) return exitCode.unavailable;
  return error instanceof CannotListen || error instanceof CannotLoad ? exitCode.refused : undefined;
}

/** Whether the error comes from the file system. The service writes to DATA_DIR only. */
function isFileFault(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return error instanceof Error && ['EACCES', 'ENOSPC', 'ENOTDIR', 'EPERM', 'EROFS'].includes(code ?? '');
}

function faultText(error: Error): string {
  if (isFileFault(error))
    return `${error.message}. Check that this user may write to DATA_DIR, and that the disk has space.`;
  if (isServerError(error))
    return `The database refuses: ${error.message} (SQLSTATE ${error.code}). See docs/operations.md.`;
  if (!(error instanceof Unavailable) || error.dependency !== 'database') return error.message;
  const { cause } = error;
  const why = cause instanceof Error ? cause.message : 'it does not answer';
  return `The database cannot be used: ${why}. ${hintOf(cause)}`;
}

function hintOf(cause: unknown): string {
  if (isTlsFault(cause))
    return "Does it speak TLS as DATABASE_URL's sslmode asks, and is its certificate trusted (NODE_EXTRA_CA_CERTS)? See docs/operations.md.";
  const code = causeCodeOf(cause);
  return hints.find(([codes]) => codes.test(code))?.[1] ?? 'Is it running, and is DATABASE_URL right?';
}

/** What an operator can do, by error code. If the server answered, its address is right. */
const hints: readonly (readonly [codes: RegExp, hint: string])[] = [
  [/^42501$/, 'Grant its role the privileges that docs/operations.md lists.'],
  [/^28...$/, 'Are user and password in DATABASE_URL right, and does its pg_hba.conf admit them?'],
  [/^3D000$/, 'Is the name of the database in DATABASE_URL right?'],
  [/^25006$/, 'It accepts no writes: it is a standby, or set to read-only.'],
  [/^53100$/, 'Its disk is full.'],
  [/^53300$/, 'It has no free connection: see its max_connections.'],
  [/^57P0.$/, 'It is starting, stopping or recovering: try again later.'],
  [
    new RegExp(`^(?:${TOO_SLOW}|57014|25P03|40001|40P01)$`),
    'It answers, but is slow, busy or locked: check what it is doing.',
  ],
];
