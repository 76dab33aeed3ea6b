import { parseArgs } from 'node:util';
import { readConfig } from '../../config/config.ts';
import { daysAsked, exportSessions, exportUsage, type ExportStores } from '../exports/rows.ts';
import { EXPORTS, exportText, type ExportName } from '../exports/text.ts';
import { systemClock } from '../kernel/time.ts';
import { exportedUsageAsked } from '../protocol/operator/export.ts';
import { Refusal } from '../protocol/refusal.ts';
import { createCalendar } from '../quota/calendar.ts';
import { explainFault, text, UsageError, usageOf, type OpenStores, type StoreTerminal } from './store-command.ts';
import { exitCode } from './terminal.ts';

export interface ExportTerminal extends StoreTerminal<ExportStores & OpenStores> {
  /** Prints the parts as fast as their reader takes them; resolves when all are written, or the reader is gone. @throws what making them throws */
  readonly print: (parts: AsyncIterable<string>) => Promise<void>;
}

/** Usage and description of the command. */
export const exportCommands = [
  {
    usage: 'export sessions|usage [--from T] [--to T] [--tenant T] [--format ndjson|csv]',
    meaning:
      'prints sessions with their usage, or usage by day, subject, key and agent; T is a time such as 2030-01-01T00:00:00Z; without --from, usage is that of today',
  },
] as const;

const words = {
  usage: usageOf(exportCommands),
  besideServer:
    'While it runs, use the console (Sessions, Usage), or GET /api/operator/export/sessions and /api/operator/export/usage.\nWith DATABASE_URL this command works beside running servers.\n',
};

/**
 * `export`, with the server's own environment.
 * @returns 0; 64 for wrong arguments, 69 when the database is away or in use, 78 for wrong settings
 */
export async function run(args: readonly string[], { err, env, openStores, print }: ExportTerminal): Promise<number> {
  let hasBegun = false;
  try {
    const { name, from, to, tenantId, format } = readArguments(args);
    const config = readConfig(env, ['DATABASE_URL']);
    const atMs = systemClock.now();
    const calendar = createCalendar(config.quotaTimeZone);
    const days = name === 'usage' ? daysAsked({ from, to }, atMs, (at) => calendar(at).day) : undefined;
    if (days instanceof Refusal) throw new UsageError(days.error);
    const stores = await openStores(config);
    try {
      hasBegun = true;
      const pages =
        days === undefined
          ? exportSessions({ tenantId, fromMs: from, toMs: to }, atMs, stores)
          : exportUsage(days, tenantId === undefined ? undefined : [tenantId], stores);
      await print(exportText(name, format, pages));
      return exitCode.ok;
    } finally {
      await stores.close();
    }
  } catch (error) {
    if (hasBegun) err.write('The export is not whole.\n');
    return explainFault(error, words, err);
  }
}

function readArguments(args: readonly string[]) {
  const options = { from: text, to: text, tenant: text, format: text };
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  const [name, ...others] = positionals;
  if (!isExportName(name)) throw new UsageError(`say what to export: ${Object.keys(EXPORTS).join(' or ')}`);
  if (others.length > 0) throw new UsageError(`one export at a time, not "${others[0]}"`);
  const { tenant, ...rest } = values;
  const read = exportedUsageAsked.safeParse({ ...rest, tenantId: tenant });
  if (read.success) return { name, ...read.data };
  const [issue] = read.error.issues;
  const field = String(issue?.path[0]);
  throw new UsageError(`--${field === 'tenantId' ? 'tenant' : field}: ${issue?.message}`);
}

function isExportName(name: string | undefined): name is ExportName {
  return name !== undefined && Object.hasOwn(EXPORTS, name);
}
