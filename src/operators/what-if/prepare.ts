import { DAY_MS, HOUR_MS, iso, MINUTE_MS, SECOND_MS } from '../../kernel/time.ts';
import type { WhatIfReply, WhatIfRequest } from '../../protocol/operator/what-if.ts';
import { hasMinutes } from '../../budgets/used-share.ts';
import { createCalendar, createPeriods, type QuotaDay } from '../../quota/calendar.ts';
import type { NewBudget } from '../../stores/budgets/contract.ts';
import type { Tenant } from '../../stores/tenants/contract.ts';
import type { OperatorServices } from '../services.ts';
import { type ReplayMemory, Replay } from './replay.ts';
import { readInto } from './pages.ts';
import { notReplayed, triedRules } from './rules.ts';

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
