import { DAY_MS, HOUR_MS, iso, MINUTE_MS, SECOND_MS } from '../../kernel/time.ts';
import type { WhatIfReply, WhatIfRequest } from '../../protocol/operator/what-if.ts';
import { hasMinutes } from '../../budgets/used-share.ts';
import { createCalendar, createPeriods, type QuotaDay } from '../../quota/calendar.ts';
import type { NewBudget, BudgetUse, ConnectedSpan } from '../../stores/budgets/contract.ts';
import type { Tenant } from '../../stores/tenants/contract.ts';
import type { OperatorServices } from '../services.ts';
import { type ReplayMemory, Replay } from './replay.ts';
import { notReplayed, triedRules } from './rules.ts';
import { idleAtMs } from '../../../machines/voice-session/selectors.ts';
import type { VoiceLimits } from '../../../machines/voice-session/types.ts';
import type { CountedUsage, EntryPosition, UsageReports } from '../../stores/usage-reports/contract.ts';
import type { HistoryRow, Position, VoiceHistory } from '../../stores/voice-history/contract.ts';

/** The longest span of a replay, and how long before it a budget's usage is read. */
export const MAX_DAYS = 31;

/** A replay that has not started yet. */
export interface PreparedReplay {
  /** Reading this runs the replay. */
  readonly pages: AsyncGenerator<undefined>;
  /** The result, once all pages are read. */
  readonly toReply: () => WhatIfReply;
}

/** @param wished the budget to try @param atMs now, where the replay ends at the latest */
export function prepareReplay(
  asked: WhatIfRequest,
  tenant: Tenant,
  wished: NewBudget | undefined,
  atMs: number,
  { core, tenants, usage, sessions }: Pick<OperatorServices, 'core' | 'tenants' | 'usage' | 'sessions'>,
  memory: ReplayMemory,
): PreparedReplay {
  const { from: fromMs, tenantId, change } = asked;
  const toMs = Math.max(fromMs, Math.min(asked.to, atMs));
  const keyId = change.keyId ?? null;
  // Separate from the service's calendar and periods, which cache the present day.
  const calendar = createCalendar(core.config.quotaTimeZone);
  const periodAt = createPeriods(core.config.quotaTimeZone, calendar);
  const budgets = tenants.budgetsOf(tenantId);
  const present = usage.limitsOf('widget', tenantId, keyId);
  const budget = wished && {
    ...wished,
    from: wished.period === 'once' ? (wished.from ?? sinceOf(wished, budgets) ?? calendar(fromMs).day) : null,
    version: 1,
    isInFile: false,
  };
  const rules = triedRules(change, budget, tenant, present, budgets);
  // A budget may also refuse sessions of other keys.
  const span = { tenantId, fromMs, toMs, keyId: budget === undefined ? keyId : null };
  const replay = new Replay(rules, span, memory, { calendar, periodAt });

  const isOfTime = rules.budget !== undefined && rules.budget.period !== 'session';
  const periodMs = isOfTime ? periodAt(rules.budget, fromMs).fromMs : fromMs;
  const wantedMs = Math.min(periodMs, dayBegin(calendar, fromMs));
  const usageFromMs = Math.max(fromMs - MAX_DAYS * DAY_MS, wantedMs);
  const { maxMinutes, maxIdleSec, staleGraceSec, staleReapSec } = sessions.limits;
  const longestMs = maxMinutes * MINUTE_MS + (maxIdleSec + staleGraceSec + staleReapSec) * SECOND_MS;
  const countsMinutes = rules.budget !== undefined && hasMinutes(rules.budget);
  const sessionsFromMs = (countsMinutes && isOfTime ? usageFromMs : fromMs) - longestMs;
  const range = { tenantId, sessionsFromMs, usageFromMs, toMs, countsMinutes };
  return {
    pages: readInto(replay, range, sessions.limits, core.stores),
    toReply() {
      const { total, refused, byCode, ended, microDollars } = replay.result;
      return {
        from: iso(fromMs),
        to: iso(toMs),
        creates: { total, refused, byCode: { ...byCode } },
        ended,
        dollars: { actual: microDollars.actual / 1_000_000, replayed: microDollars.replayed / 1_000_000 },
        notReplayed: [
          ...notReplayed(asked, rules, present),
          ...(wantedMs < usageFromMs ? [`What the budget counted before ${iso(usageFromMs)} is left out.`] : []),
        ],
      };
    },
  };
}

/** The start of the existing budget that is to be changed, if it has one. */
function sinceOf({ id }: NewBudget, budgets: readonly NewBudget[]): string | null {
  return budgets.find((one) => one.id === id)?.from ?? null;
}

/** The first instant of the calendar day that contains `atMs`. */
function dayBegin(calendar: (atMs: number) => QuotaDay, atMs: number): number {
  const { day } = calendar(atMs);
  for (let hours = 1; hours <= 26; hours += 1) {
    const before = calendar(atMs - hours * HOUR_MS);
    if (before.day !== day) return before.resetAtMs;
  }
  return atMs - DAY_MS;
}

const SESSIONS = 500;
const ENTRIES = 2000;

export interface ReplayStores {
  readonly history: Pick<VoiceHistory, 'list'>;
  readonly usageReports: Pick<UsageReports, 'entries'>;
  readonly budgetUse: Pick<BudgetUse, 'spansOf'>;
}

export interface ReplayRange {
  readonly tenantId: string;
  /** Where reading sessions and usage entries starts: earlier than the reported span. */
  readonly sessionsFromMs: number;
  readonly usageFromMs: number;
  readonly toMs: number;
  /** Whether the time matters for which calls were connected. */
  readonly countsMinutes: boolean;
}

/**
 * Feeds a replay with sessions and usage in the order of time, keeping two pages in memory. At the same instant sessions come first.
 * @yields after each page read; a consumer that stops leaves the rest unread
 * @throws Unavailable when the database is away
 */
export async function* readInto(
  replay: Replay,
  range: ReplayRange,
  limits: VoiceLimits,
  stores: ReplayStores,
): AsyncGenerator<undefined> {
  const entries = entryPages(range, stores);
  let page: readonly CountedUsage[] = [];
  let at = 0;
  let isOver = false;

  /** Feeds the usage entries before an instant. */
  async function* usageUntil(untilMs: number): AsyncGenerator<undefined> {
    while (!isOver) {
      for (; at < page.length; at += 1) {
        const entry = page[at];
        if (entry === undefined || entry.atMs >= untilMs) return;
        replay.counted(entry);
      }
      const next = await entries.next();
      isOver = next.done === true;
      page = next.done === true ? [] : next.value;
      at = 0;
      yield;
    }
  }

  for await (const rows of sessionPages(range, stores)) {
    const calls = range.countsMinutes ? await callsOf(rows, stores) : undefined;
    for (const { record, state } of rows) {
      yield* usageUntil(record.startedAtMs);
      const slotEndMs =
        state === 'engaged' ? Infinity : Math.min(record.endedAtMs ?? Infinity, idleAtMs(record, limits));
      await replay.opened(record, slotEndMs, calls?.get(record.id));
    }
    const last = rows.at(-1);
    if (last !== undefined) replay.forget(last.record.startedAtMs);
    yield;
  }
  yield* usageUntil(Infinity);
  replay.passTo(range.toMs);
}

async function* sessionPages(
  { tenantId, sessionsFromMs, toMs }: ReplayRange,
  { history }: ReplayStores,
): AsyncGenerator<readonly HistoryRow[]> {
  let after: Position | undefined;
  do {
    const page = await history.list({ tenantId, fromMs: sessionsFromMs, toMs }, after, SESSIONS, 'startedAt');
    yield page.rows;
    after = page.next;
  } while (after !== undefined);
}

/** When the calls of each session were connected. */
async function callsOf(
  rows: readonly HistoryRow[],
  { budgetUse }: Pick<ReplayStores, 'budgetUse'>,
): Promise<ReadonlyMap<string, readonly ConnectedSpan[]>> {
  const calls = new Map<string, ConnectedSpan[]>(rows.map(({ record }) => [record.id, []]));
  for (const span of await budgetUse.spansOf([...calls.keys()])) calls.get(span.sessionId)?.push(span);
  return calls;
}

async function* entryPages(
  { tenantId, usageFromMs, toMs }: ReplayRange,
  { usageReports }: ReplayStores,
): AsyncGenerator<readonly CountedUsage[]> {
  let after: EntryPosition | undefined;
  do {
    const { rows, next } = await usageReports.entries(tenantId, usageFromMs, toMs, after, ENTRIES);
    yield rows;
    after = next;
  } while (after !== undefined);
}
