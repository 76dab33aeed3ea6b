import type { RetentionDays } from '../../config/config.ts';
import { rowKey } from '../auth/guess-budget.ts';
import { DAY_MS } from '../kernel/time.ts';
import type { QuotaDay } from '../quota/calendar.ts';
import { CHUNK, type Retention } from '../stores/retention/contract.ts';

/** One round deletes at most this many chunks of a kind, so that a first round over years of rows is no long night's work. */
const CHUNKS_A_ROUND = 100;

/** Idempotency keys of usage reports are remembered for a day, in whatever time zone; no session lasts longer. */
const REPORT_DAYS = 2;
const LOGIN_DAYS = 30;
/** Longer than any device cookie lasts. */
const ADDRESS_DAYS = 400;
/** What was told of a period is shown with it, and of no use once it is over. */
const BUDGET_DAYS = 2;
/** Activity by the minute shows the present, by the hour the past. */
const ACTIVITY_MINUTES_DAYS = 2;
const ACTIVITY_HOURS_DAYS = 400;
/** However many days are kept: refusals come in floods. */
const MAX_REFUSALS = 2_000_000;
/** A session ends at most so long after it was created; what it was created with stays as long as the session is kept. */
const SESSION_DAYS = 2;

export interface RetentionDeps {
  readonly retention: Retention;
  /** 0 keeps for ever. */
  readonly days: RetentionDays;
  readonly calendar: (atMs: number) => QuotaDay;
  /** Since when budgets count, by what is kept of each day and hour, and of calls: that is never deleted. */
  readonly countedFromMs: { readonly usage: number; readonly calls: number };
  /** Hears of a step that failed. */
  readonly onError: (error: unknown) => void;
}

/** Deletes what nobody will ask for again (docs/operations.md). One kind that fails holds up no other. Never rejects. */
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
    () => retention.deleteSome('replays', at),
    () => retention.deleteSome('callTickets', at),
    () => retention.deleteSome('resumeTokens', at),
    () => retention.deleteSome('liveNodes', daysAgo(1)),
    () => retention.deleteSome('usageKeys', daysAgo(REPORT_DAYS)),
    () => retention.deleteSome('usageSessions', daysAgo(REPORT_DAYS)),
    () => retention.deleteSome('usageHolds', at),
    () => retention.deleteSome('webhookEvents', daysAgo(days.webhooks)),
    () => retention.deleteSome('budgetStates', daysAgo(BUDGET_DAYS)),
  ];
  if (days.sessions > 0) {
    // Sessions with their calls: they say which agent's these were.
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
      // Not before the entries: a meter says what its entries are the differences of.
      () => retention.deleteSome('callMeters', daysAgo(Math.max(days.usage, REPORT_DAYS))),
      () => retention.deleteDays('usageTotals', calendar(Math.min(daysAgo(days.usage), countedFromMs.usage)).day),
      () => retention.deleteDays('usageDays', calendar(daysAgo(days.usage)).day),
      () => retention.deleteSome('usageHours', Math.min(daysAgo(days.usage), countedFromMs.usage)),
    );
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
