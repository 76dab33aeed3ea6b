import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import type { Refusal } from '../protocol/refusal.ts';
import type { Holds } from '../stores/holds/contract.ts';
import type { Ledger } from '../stores/ledger/contract.ts';
import type { SessionSetup } from '../stores/session-setups/contract.ts';
import type { BudgetLimits } from '../budgets/budgets.ts';
import type { QuotaDay } from './calendar.ts';
import { boundedDays, exceeds, isSpent, totalCeilings, type CeilingsHolder } from './ceilings.ts';
import { createReadDayShares, type DaySharesDeps } from './ceiling-shares.ts';
import { ownCeilings, quotaRefusal, sharedLevers, whySpent } from './quota-refusal.ts';
import { reportUsage, type ReportUsageDeps, type UsageReport } from './report-usage.ts';
import { reserveUsage, type ReserveDeps } from './reserve-usage.ts';
import { subjectOfSession, type UsageSubject } from './who-may-report.ts';

interface UsageDeps extends ReportUsageDeps, ReserveDeps {
  readonly config: ReportUsageDeps['config'] & ReserveDeps['config'];
  readonly tenants: ReportUsageDeps['tenants'] & DaySharesDeps['tenants'];
  readonly holds: Pick<Holds, 'take' | 'release'>;
  readonly budgets: BudgetLimits;
}

export type Usage = ReturnType<typeof createUsage>;

/** Usage and its ceilings, as other features see them: the verbs of this folder, most in a file of their own. */
export function createUsage(deps: UsageDeps) {
  const { calendar, limitsOf, ceilingsOf, sharedOf, ledger, holds } = deps;
  return {
    calendar,
    limitsOf,
    ceilingsOf,
    sharedOf,
    budgetLimits: deps.budgets,
    readDayShares: createReadDayShares(deps),
    refuseIfSpent: (who: CeilingsHolder, atMs: number) => refuseIfSpent(who, atMs, deps),
    subjectOfSession: (record: VoiceRecord, isService: boolean, atMs: number) =>
      subjectOfSession(record, isService, atMs, deps),
    report: (who: UsageSubject, report: UsageReport) => reportUsage(who, report, deps),
    /** Whether a subject's own usage of the day exceeds its ceiling. @throws Unavailable when the database is away */
    async exceedsToday({ subject, caller, tenantId, keyId }: UsageSubject, atMs: number): Promise<boolean> {
      const totals = await ledger.totals(subject, calendar(atMs).day);
      return exceeds(totals, limitsOf(caller, tenantId ?? '', keyId));
    },
    reserve: (who: CeilingsHolder, setup: SessionSetup, untilMs: number, atMs: number) =>
      reserveUsage(who, setup, untilMs, atMs, deps),
    /** Gives back what a session holds. @throws Unavailable when the database is away: then the hold lapses when its time is over */
    release: (sessionId: string) => holds.release(sessionId),
  };
}

export interface SpentDeps {
  readonly ledger: Pick<Ledger, 'totals'>;
  readonly calendar: (atMs: number) => QuotaDay;
  readonly budgets: Pick<BudgetLimits, 'usedUp'>;
}

/**
 * DAILY_QUOTA_EXCEEDED when a total of the day has reached its ceiling, the subject's own or a shared one (docs/contract.md, section 5.8), or when a
 * budget has nothing left.
 * @throws Unavailable when the database is away
 */
export async function refuseIfSpent(
  holder: CeilingsHolder,
  atMs: number,
  { ledger, calendar, budgets }: SpentDeps,
): Promise<Refusal | undefined> {
  const { subject, keyId, limits, overrides, shared } = holder;
  const { day } = calendar(atMs);
  const usedUp = budgets.usedUp(holder, atMs, holder.sessionId === undefined);
  const others = boundedDays(shared).map(async (one) => ({ one, used: await ledger.totals(one.account, day) }));
  const [budget, own, ...used] = await Promise.all([usedUp, ledger.totals(subject, day), ...others]);
  if (isSpent(own, limits)) return quotaRefusal({}, whySpent(own, limits, ownCeilings({ keyId, overrides })));
  const spent = used.find((each) => isSpent(each.used, totalCeilings(each.one.totals)));
  if (spent === undefined) return budget && quotaRefusal({ budget: budget.budget }, budget.why);
  return quotaRefusal({}, whySpent(spent.used, totalCeilings(spent.one.totals), sharedLevers(spent.one)));
}
