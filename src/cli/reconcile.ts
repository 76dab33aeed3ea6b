import { parseArgs } from 'node:util';
import { readConfig, type Config } from '../../config/config.ts';
import { DAY_MS } from '../kernel/time.ts';
import { moneyText } from '../protocol/money.ts';
import { reconcileDay, type ReconcileDeps } from '../reconciliation/reconcile.ts';
import type { ReconciledDay } from '../stores/reconciliations/contract.ts';
import { UpstreamFault } from '../upstream/contract.ts';
import { explainFault, text, UsageError, usageOf, type OpenStores } from './store-command.ts';
import { exitCode, fail, type Terminal } from './terminal.ts';

/** The provider is queried twice for each day, one query after another. */
const MAX_DAYS = 31;
const UNEXPLAINED = 3;

export interface ReconcileTerminal extends Terminal {
  /** `deps` is undefined without OPENAI_ADMIN_KEY. @throws DirectoryInUse when a server runs on the embedded database; Unavailable */
  readonly openReconciliation: (config: Config) => Promise<OpenStores & { readonly deps: ReconcileDeps | undefined }>;
}

/** Usage and description of the command. */
export const reconcileCommands = [
  {
    usage: 'reconcile --from D --to D',
    meaning:
      'asks OpenAI what was used on these days (UTC, the last one excluded) and compares; exit code 3 if a day’s difference is unexplained',
  },
] as const;

const words = {
  usage: usageOf(reconcileCommands),
  besideServer:
    'A running server compares by itself every night.\nWith DATABASE_URL this command works beside running servers.\n',
};

/**
 * `reconcile`, with the server's environment: prints a line for each day, and one for each class of tokens that differs.
 * @returns 0, or 3 when a day is unexplained; 64 for wrong arguments, 69 when the database or the provider is away, 78 for wrong settings
 */
export async function run(args: readonly string[], terminal: ReconcileTerminal): Promise<number> {
  const { out, err, env, openReconciliation } = terminal;
  try {
    const days = readArguments(args);
    const opened = await openReconciliation(readConfig(env, ['DATABASE_URL']));
    try {
      const { deps } = opened;
      if (deps === undefined) throw new UsageError('set OPENAI_ADMIN_KEY, an admin key of OpenAI that reads usage');
      let code: number = exitCode.ok;
      for (const day of days) {
        const reconciled = await reconcileDay(day, deps);
        if (reconciled.state === 'unexplained') code = UNEXPLAINED;
        out.write(`${dayLines(reconciled).join('\n')}\n`);
      }
      return code;
    } finally {
      await opened.close();
    }
  } catch (error) {
    if (!(error instanceof UpstreamFault)) return explainFault(error, words, err);
    return fail(err, error.message, exitCode.unavailable);
  }
}

function readArguments(args: readonly string[]): readonly string[] {
  const { values } = parseArgs({ args: [...args], options: { from: text, to: text } });
  const [from, to] = [dayOf('from', values.from), dayOf('to', values.to)];
  const count = (to - from) / DAY_MS;
  if (count < 1) throw new UsageError('--from must be a day before --to');
  if (count > MAX_DAYS) throw new UsageError(`at most ${MAX_DAYS} days at once`);
  return Array.from({ length: count }, (_, n) => new Date(from + n * DAY_MS).toISOString().slice(0, 10));
}

function dayOf(name: string, text: string | undefined): number {
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(text ?? '') ? Date.parse(text ?? '') : NaN;
  if (Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 10) !== text)
    throw new UsageError(`--${name} must be a day such as 2030-01-31`);
  return ms;
}

function dayLines(reconciled: ReconciledDay): string[] {
  const { day, state, rows, ourMicroDollars, theirMicroDollars, estimatedMicroDollars } = reconciled;
  const parts = [`ours ${dollars(ourMicroDollars)}`, `OpenAI's ${dollars(theirMicroDollars)}`];
  const estimated = estimatedMicroDollars === 0 ? [] : [`${dollars(estimatedMicroDollars)} of ours estimated`];
  const different = rows.filter(({ isEqual }) => !isEqual);
  return [
    `${day}  ${state.padEnd(11)}  ${[...parts, ...estimated].join(', ')}`,
    ...different.map(
      (row) =>
        `  ${row.model} ${row.class}: ours ${row.ours}, OpenAI's ${row.theirs} (${row.microDollars === null ? 'no price is known' : `worth ${dollars(row.microDollars)}`})`,
    ),
  ];
}

function dollars(microDollars: number | null): string {
  return microDollars === null ? 'unknown' : moneyText(microDollars / 1_000_000);
}
