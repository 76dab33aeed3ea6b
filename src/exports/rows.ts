import { durationSec } from '../../machines/voice-session/selectors.ts';
import { refOf } from '../kernel/ids.ts';
import { DAY_MS, iso, isoOrNull } from '../kernel/time.ts';
import type { ExportedSession, ExportedUsage } from '../protocol/operator/export.ts';
import { toUsed } from '../protocol/operator/usage.ts';
import { Refusal, wrongField } from '../protocol/refusal.ts';
import { NOTHING_USED } from '../stores/ledger/contract.ts';
import type { UsageDayKey, UsageReports } from '../stores/usage-reports/contract.ts';
import type { HistoryFilter, HistoryRow, Position, VoiceHistory } from '../stores/voice-history/contract.ts';

/** Rows that are read and sent at a time. */
const PAGE = 500;
/** The most days that one export may cover; each day is a query. */
export const MAX_DAYS = 400;

export interface ExportStores {
  readonly history: Pick<VoiceHistory, 'list' | 'ratingsOf'>;
  readonly usageReports: Pick<UsageReports, 'ofSessions' | 'ofDay'>;
}

/**
 * Sessions with their usage, oldest first, so that sessions that start meanwhile do not shift the pages.
 * @param present brings rows of the history up to date; by default they stay as last saved
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
    const [usage, ratings, rows] = await Promise.all([
      usageReports.ofSessions(ids),
      history.ratingsOf(ids),
      present(page.rows),
    ]);
    yield rows.map((row) => exportedOf(row, atMs, usage.get(row.record.id), ratings.get(row.record.id)));
    after = page.next;
  } while (after !== undefined);
}

/**
 * The days of a usage export: from the day of `from` to the day of `to`, by default today; without `from`, that one day only.
 * @param dayOf the calendar day of an instant, in QUOTA_TIMEZONE
 * @returns the first and the last day, INVALID_REQUEST where `from` is after `to`, or QUERY_TOO_BROAD for too many days
 */
export function daysAsked(
  { from, to }: { readonly from?: number | undefined; readonly to?: number | undefined },
  atMs: number,
  dayOf: (atMs: number) => string,
): readonly [first: string, last: string] | Refusal {
  const toMs = to ?? atMs;
  const fromMs = from ?? toMs;
  if (fromMs > toMs) return wrongField('from', 'must not be after to');
  if (toMs - fromMs > MAX_DAYS * DAY_MS)
    return new Refusal('QUERY_TOO_BROAD', `An export has at most ${MAX_DAYS} days.`);
  return [dayOf(fromMs), dayOf(toMs)];
}

/**
 * What each subject used on each day, in the order of days.
 * @param days first and last day, as YYYY-MM-DD
 * @param tenants whose usage counts; undefined means everybody's
 * @throws Unavailable when the database is away
 */
export async function* exportUsage(
  [first, last]: readonly [first: string, last: string],
  tenants: readonly string[] | undefined,
  { usageReports }: ExportStores,
): AsyncGenerator<readonly ExportedUsage[]> {
  // Calendar days of any zone follow one another as UTC days do.
  for (let atMs = Date.parse(first); atMs <= Date.parse(last); atMs += DAY_MS) {
    const day = dayOf(atMs);
    let after: UsageDayKey | undefined;
    do {
      const rows = await usageReports.ofDay(day, tenants, after, PAGE);
      yield rows.map(({ subject, tenantId, keyId, agentId, ...totals }) => {
        const served = { tenantId: tenantId || null, keyId: keyId || null, agentId: agentId || null };
        return { day, subject, ...served, ...toUsed(totals) };
      });
      after = rows.length < PAGE ? undefined : rows.at(-1);
    } while (after !== undefined);
  }
}

function exportedOf(
  { record, state }: HistoryRow,
  atMs: number,
  used = NOTHING_USED,
  rating: number | null = null,
): ExportedSession {
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
    ...toUsed(used),
    rating,
  };
}

function dayOf(atMs: number): string {
  return iso(atMs).slice(0, 10);
}
