import { createHash } from 'node:crypto';
import type { Eventually } from '../kernel/async.ts';
import type { ClientReports } from '../metering/contract.ts';
import { Refusal } from '../protocol/refusal.ts';
import type { ReportedResponse, Usage } from '../protocol/usage.ts';
import { sharedAccounts, type Ledger } from '../stores/ledger/contract.ts';
import { afterCounted, sharedOver, type AfterCountedDeps, type CountedUsage } from './ceiling-exceeded.ts';
import type { UsedUp } from '../budgets/used-up.ts';
import { recentDay, type QuotaDay } from './calendar.ts';
import { exceeds, usageView } from './ceilings.ts';
import { ownCeilings, whySpent, quotaRefusal } from './quota-refusal.ts';
import type { ReporterDeps, UsageSubject } from './who-may-report.ts';

export interface UsageReport {
  readonly tokens: number;
  readonly microDollars: number;
  readonly idempotencyKey: string | undefined;
  /** A response as the client heard it; it counts only where the session's calls are metered here and nobody here heard it. */
  readonly response: ReportedResponse | undefined;
  readonly atMs: number;
  /** Id of the request that brought it; a frame has none. */
  readonly requestId?: string | undefined;
}

export interface ReportUsageDeps extends ReporterDeps, AfterCountedDeps {
  readonly ledger: Ledger;
  /** What usage does to sessions: a report is activity, and sessions over a ceiling are ended. */
  readonly sessions: ReporterDeps['sessions'] &
    AfterCountedDeps['sessions'] & { noteActivity(id: string, at: number, requestId?: string): Eventually<unknown> };
  readonly calendar: (atMs: number) => QuotaDay;
  readonly clientReports: ClientReports;
}

export interface ReportAnswer {
  readonly usage: Usage;
  /** False: the session's calls are metered here, so its client's report is not counted. */
  readonly counted?: false;
}

/**
 * Counts a report and returns the day's totals. Sessions over a ceiling end, as after any usage (`afterCounted`). If that ceiling applies to the
 * report's subject, the answer is DAILY_QUOTA_EXCEEDED, which says that the report was counted.
 * @returns a Refusal USAGE_IMPLAUSIBLE or IDEMPOTENCY_MISMATCH when nothing was counted
 * @throws Unavailable when the database is away: then nothing is counted.
 */
export async function reportUsage(
  who: UsageSubject,
  report: UsageReport,
  deps: ReportUsageDeps,
): Promise<ReportAnswer | Refusal> {
  const { subject, tenantId, keyId, sessionId, sessionAtMost, isClient } = who;
  const { tokens, microDollars, atMs, idempotencyKey, requestId } = report;
  if (isClient && sessionId !== null && (await deps.clientReports.isMetered(sessionId)))
    return reportMetered({ ...who, sessionId }, report, deps);
  const today = deps.calendar(atMs);
  const answer = await deps.ledger.record({
    subject,
    day: today.day,
    tokens,
    microDollars,
    atMs,
    tenantId,
    sessionId,
    sessionAtMost,
    ...sharedAccounts(tenantId, keyId),
    idempotency:
      idempotencyKey === undefined ? null : { key: idempotencyKey, bodyHash: hashOf(sessionId, tokens, microDollars) },
  });
  if (answer.kind === 'mismatch')
    return new Refusal('IDEMPOTENCY_MISMATCH', 'This Idempotency-Key was used for another report; use a new key.');
  if (answer.kind === 'implausible') return implausibleRefusal();
  const isCounted = answer.kind === 'counted';
  if (sessionId !== null && isCounted) await deps.sessions.noteActivity(sessionId, atMs, requestId);
  // A repeat on a later day gets the reply of its own day, and has no effect today.
  const isToday = answer.day === today.day;
  const added = isCounted ? { tokens, microDollars } : null;
  const usedUp = isToday ? await afterCounted(who, { ...answer, added, atMs, requestId }, deps) : undefined;
  return replyTo(who, answer, isToday ? today : recentDay(deps.calendar, answer.day, atMs), deps, usedUp);
}

/** A report by the client of a session whose calls are metered here: it only fills gaps (docs/contract.md, section 5.12). */
async function reportMetered(
  who: UsageSubject & { readonly sessionId: string },
  { response, atMs }: UsageReport,
  deps: ReportUsageDeps,
): Promise<ReportAnswer | Refusal> {
  const today = deps.calendar(atMs);
  const filled =
    response === undefined ? undefined : await deps.clientReports.fillGap(who, response, who.sessionAtMost, atMs);
  if (filled === 'implausible') return implausibleRefusal();
  if (filled?.kind === 'counted') return replyTo(who, filled, today, deps);
  const totals = await deps.ledger.totals(who.subject, today.day);
  const limits = deps.limitsOf(who.caller, who.tenantId ?? '', who.keyId);
  return { usage: usageView(totals, limits, today), counted: false };
}

/** The totals after the entry, or a refusal if they exceed a ceiling. */
function replyTo(
  who: UsageSubject,
  counted: Pick<CountedUsage, 'totals' | 'keyTotals' | 'tenantTotals'>,
  day: QuotaDay,
  deps: ReportUsageDeps,
  usedUp?: UsedUp,
): ReportAnswer | Refusal {
  const { totals } = counted;
  const limits = deps.limitsOf(who.caller, who.tenantId ?? '', who.keyId);
  const view = usageView(totals, limits, day);
  const isOverDay = sharedOver(who, counted, deps).length > 0 || exceeds(totals, limits);
  if (!isOverDay && usedUp === undefined) return { usage: view };
  const { tenantId, keyId, subject } = who;
  const numbers = exceeds(totals, limits) ? whySpent(totals, limits, ownCeilings(who)) : isOverDay ? {} : usedUp?.why;
  const budget = isOverDay ? undefined : usedUp?.budget;
  // The reporting session has just ended.
  const words = who.sessionId === null ? {} : { saysEnd: 'quota_exceeded' as const };
  return quotaRefusal(
    { counted: true, usage: view, ...words, ...(budget && { budget }) },
    { tenantId, keyId, subject, ...numbers },
  );
}

function implausibleRefusal(): Refusal {
  return new Refusal(
    'USAGE_IMPLAUSIBLE',
    'This is more than a session of this length may report (WIDGET_MAX_TOKENS_PER_MINUTE); nothing was counted. Report as it is used, or from a back end with a service token.',
    {},
    { lever: 'WIDGET_MAX_TOKENS_PER_MINUTE' },
  );
}

function hashOf(sessionId: string | null, tokens: number, microDollars: number): string {
  return createHash('sha256')
    .update(JSON.stringify([sessionId, tokens, microDollars]))
    .digest('base64url');
}
