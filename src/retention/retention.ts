import type { ValuesOf } from '../../config/variable.ts';
import { rowKey } from '../auth/code-limits.ts';
import { DAY_MS } from '../kernel/time.ts';
import { lastHoursMs } from '../budgets/remembered-sums.ts';
import type { QuotaDay } from '../quota/calendar.ts';
import { CHUNK, type Retention } from '../stores/retention/contract.ts';
import type { retentionDays } from './variables.ts';

/** Chunks of each kind that one round deletes at most, so that a first round over years of rows does not run for hours. */
const CHUNKS_A_ROUND = 100;

/** Idempotency keys of usage reports are valid for one day, in any time zone; no session lasts longer than that. */
const REPORT_DAYS = 2;
const LOGIN_DAYS = 30;
/** Longer than any device cookie lasts. */
const ADDRESS_DAYS = 400;
/** Which warnings of a budget period were sent is shown with the period, and useless once it is over. */
const BUDGET_DAYS = 2;
/** Counts by the minute are for the present, counts by the hour for the past. */
const ACTIVITY_MINUTES_DAYS = 2;
const ACTIVITY_HOURS_DAYS = 400;
/** Upper bound on stored refusals, whatever the retention in days, because refusals come in floods. */
const MAX_REFUSALS = 2_000_000;
/** A session ends within this time of its creation; what it was created with is kept as long as the session is. */
const SESSION_DAYS = 2;

export interface RetentionDeps {
  readonly retention: Retention;
  /** Days to keep each kind; 0 keeps it forever. */
  readonly days: ValuesOf<typeof retentionDays>;
  readonly calendar: (atMs: number) => QuotaDay;
  /** Since when budgets count usage (kept by day and hour) and calls: nothing since then is ever deleted. */
  readonly countedFromMs: { readonly usage: number; readonly calls: number };
  /** Receives the fault of a step that failed. */
  readonly onError: (error: unknown) => void;
}

/**
 * Deletes what nobody will ask for again (docs/operations.md), and adds up hours that are over. A step that fails does not stop the others. Never
 * rejects.
 */
export async function deleteWhatIsOver(
  at: number,
  { retention, days, calendar, countedFromMs, onError }: RetentionDeps,
): Promise<void> {
  const daysAgo = (count: number): number => at - count * DAY_MS;
  let beyondMs: Promise<number | undefined> | undefined;
  const deleteBeyond = async (): Promise<number> => {
    const beforeMs = await (beyondMs ??= retention.refusalsBeyond(MAX_REFUSALS));
    return beforeMs === undefined ? 0 : retention.deleteSome('refusals', beforeMs);
  };
  const steps: (() => Promise<number>)[] = [
    () => retention.deleteSome('counters', daysAgo(1)),
    () => retention.deleteSome('challenges', daysAgo(1)),
    () => retention.deleteSome('logins', daysAgo(LOGIN_DAYS)),
    () => retention.deleteAddresses(daysAgo(ADDRESS_DAYS), rowKey('')),
    () => retention.deleteSome('idempotentReplies', at),
    () => retention.deleteSome('callTickets', at),
    () => retention.deleteSome('resumeTokens', at),
    () => retention.deleteSome('liveNodes', daysAgo(1)),
    () => retention.deleteSome('usageKeys', daysAgo(REPORT_DAYS)),
    () => retention.deleteSome('usageSessions', daysAgo(REPORT_DAYS)),
    () => retention.deleteSome('usageHolds', at),
    () => retention.deleteSome('webhookEvents', daysAgo(days.webhooks)),
    () => retention.deleteSome('budgetStates', daysAgo(BUDGET_DAYS)),
    // Later hours are still counted by processes, and read by budgets every second.
    () => retention.foldHours(lastHoursMs(at)),
  ];
  if (days.sessions > 0) {
    // Sessions are deleted together with their calls, because only they say which agent a call had.
    const beforeMs = Math.min(daysAgo(days.sessions), countedFromMs.calls);
    steps.push(
      () => retention.deleteSome('sessions', beforeMs),
      () => retention.deleteSome('sessionSetups', daysAgo(days.sessions + SESSION_DAYS)),
      () => retention.deleteSome('calls', beforeMs),
    );
  }
  if (days.usage > 0)
    steps.push(
      () => retention.deleteSome('usageEntries', daysAgo(days.usage)),
      // No earlier than the entries: each entry is a difference of the meter.
      () => retention.deleteSome('callMeters', daysAgo(Math.max(days.usage, REPORT_DAYS))),
      () => retention.deleteDays('usageTotals', calendar(Math.min(daysAgo(days.usage), countedFromMs.usage)).day),
      () => retention.deleteDays('usageDays', calendar(daysAgo(days.usage)).day),
      () => retention.deleteSome('usageHours', Math.min(daysAgo(days.usage), countedFromMs.usage)),
    );
  // From the journal; its refusals and its audit have settings of their own, below.
  if (days.events > 0)
    steps.push(
      () => retention.deleteSome('transitions', daysAgo(days.events)),
      () => retention.deleteSome('notes', daysAgo(days.events)),
      () => retention.deleteSome('lostEvents', daysAgo(days.events)),
    );
  steps.push(
    () => retention.deleteSome('activityMinutes', daysAgo(ACTIVITY_MINUTES_DAYS)),
    () => retention.deleteSome('activityHours', daysAgo(ACTIVITY_HOURS_DAYS)),
    () => retention.deleteSome('processes', daysAgo(ACTIVITY_HOURS_DAYS)),
    deleteBeyond,
  );
  if (days.refusals > 0)
    steps.push(
      () => retention.deleteSome('refusals', daysAgo(days.refusals)),
      () => retention.deleteSome('nodeMinutes', daysAgo(days.refusals)),
    );
  if (days.audit > 0)
    steps.push(
      () => retention.deleteSome('acts', daysAgo(days.audit)),
      () => retention.deleteSome('facts', daysAgo(days.audit)),
    );

  for (const step of steps) await repeatWhileFull(step).catch(onError);
}

async function repeatWhileFull(step: () => Promise<number>): Promise<void> {
  for (let chunk = 0; chunk < CHUNKS_A_ROUND && (await step()) >= CHUNK; chunk += 1);
}
