import { durationSec } from '../../machines/voice-session/selectors.ts';
import { refOf } from '../kernel/ids.ts';
import { DAY_MS, iso, isoOrNull } from '../kernel/time.ts';
import type { ExportedSession, ExportedUsage } from '../protocol/operator/export.ts';
import type { UsageTotals } from '../stores/ledger/contract.ts';
import type { UsageDayKey, UsageReports } from '../stores/usage-reports/contract.ts';
import type { HistoryFilter, HistoryRow, Position, VoiceHistory } from '../stores/voice-history/contract.ts';

/** Rows that are read and sent together. */
const PAGE = 500;

const NOTHING: UsageTotals = { tokens: 0, microDollars: 0 };

export interface ExportStores {
  readonly history: Pick<VoiceHistory, 'list'>;
  readonly usageReports: Pick<UsageReports, 'ofSessions' | 'ofDay'>;
}

/**
 * Sessions with what they used, the oldest first, so that what begins meanwhile moves none.
 * @param present what rows of the history are by now; by default as they were saved last
 * @throws Unavailable when the database is away
 */
export async function* exportSessions(
  filter: HistoryFilter,
  atMs: number,
  { history, usageReports }: ExportStores,
  present: (rows: readonly HistoryRow[]) => Promise<readonly HistoryRow[]> = async (rows) => rows,
): AsyncGenerator<readonly ExportedSession[]> {
  const until = { ...filter, toMs: Math.min(filter.toMs ?? Infinity, atMs + 1) };
  let after: Position | undefined;
  do {
    const page = await history.list(until, after, PAGE, 'startedAt');
    const ids = page.rows.map(({ record }) => record.id);
    const [usage, rows] = await Promise.all([usageReports.ofSessions(ids), present(page.rows)]);
    yield rows.map((row) => exportedOf(row, atMs, usage.get(row.record.id)));
    after = page.next;
  } while (after !== undefined);
}

/**
 * What each subject used on each day, day by day.
 * @param days from the first to the last, as YYYY-MM-DD
 * @param tenants whose usage counts; undefined is everybody's
 * @throws Unavailable when the database is away
 */
export async function* exportUsage(
  [first, last]: readonly [first: string, last: string],
  tenants: readonly string[] | undefined,
  { usageReports }: ExportStores,
): AsyncGenerator<readonly ExportedUsage[]> {
  // Calendar days of any zone follow each other as those of UTC do.
  for (let atMs = Date.parse(first); atMs <= Date.parse(last); atMs += DAY_MS) {
    const day = dayOf(atMs);
    let after: UsageDayKey | undefined;
    do {
      const rows = await usageReports.ofDay(day, tenants, after, PAGE);
      yield rows.map(({ subject, tenantId, keyId, agentId, tokens, microDollars }) => {
        const served = { tenantId: tenantId || null, keyId: keyId || null, agentId: agentId || null };
        return { day, subject, ...served, tokens, dollars: microDollars / 1_000_000 };
      });
      after = rows.length < PAGE ? undefined : rows.at(-1);
    } while (after !== undefined);
  }
}

function exportedOf({ record, state }: HistoryRow, atMs: number, used = NOTHING): ExportedSession {
  const { id, tenantId, keyId, agentId, caller, subject, provider } = record;
  return {
    ref: refOf(id),
    tenantId,
    keyId,
    agentId,
    caller,
    subject,
    provider,
    state,
    startedAt: iso(record.startedAtMs),
    lastSeenAt: iso(record.lastSeenAtMs),
    endedAt: isoOrNull(record.endedAtMs),
    endReason: record.endReason,
    durationSec: durationSec(record, atMs),
    tokens: used.tokens,
    dollars: used.microDollars / 1_000_000,
  };
}

function dayOf(atMs: number): string {
  return iso(atMs).slice(0, 10);
}
