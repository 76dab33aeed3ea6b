import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import type { Holds } from '../stores/holds/contract.ts';
import type { SessionSetup } from '../stores/session-setups/contract.ts';
import type { BudgetLimits } from './budgets/budgets.ts';
import { exceeds } from './ceilings.ts';
import { createReadDayShares, type DaySharesDeps } from './day-shares.ts';
import { refuseIfSpent, type CeilingsHolder } from './refuse-if-spent.ts';
import { reportUsage, type ReportUsageDeps, type UsageReport } from './report-usage.ts';
import { reserveUsage, type ReserveDeps } from './reserve-usage.ts';
import { subjectOfSession, type UsageSubject } from './session-proof.ts';

interface UsageDeps extends ReportUsageDeps, ReserveDeps {
  readonly config: ReportUsageDeps['config'] & ReserveDeps['config'];
  readonly tenants: ReportUsageDeps['tenants'] & DaySharesDeps['tenants'];
  readonly holds: Pick<Holds, 'take' | 'release'>;
  readonly budgets: BudgetLimits;
}

export type Usage = ReturnType<typeof createUsage>;

/** Usage and its ceilings, as other features see them: the verbs of this folder, each documented in its own file. */
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
