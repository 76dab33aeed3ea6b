import { createHash } from 'node:crypto';
import { END_REASONS } from '../../machines/voice-session/end-reasons.ts';
import type { VoiceLimits, VoiceRecord } from '../../machines/voice-session/types.ts';
import type { Eventually } from '../kernel/eventually.ts';
import type { ErrorAdditions } from '../protocol/error-body.ts';
import { Refusal } from '../protocol/refusal.ts';
import type { Usage } from '../protocol/usage.ts';
import type { Bus } from '../stores/bus/contract.ts';
import { keyAccount, type Ledger, type UsageTotals } from '../stores/ledger/contract.ts';
import { recentDay, type QuotaDay } from './calendar.ts';
import { exceeds, nearsCeiling, totalCeilings, usageView, type TotalsOf } from './ceilings.ts';
import type { CallerCeilings } from './caller-ceilings.ts';
import type { SessionProofDeps, UsageSubject } from './session-proof.ts';

export interface UsageReport {
  readonly tokens: number;
  readonly microDollars: number;
  readonly idempotencyKey: string | undefined;
  readonly atMs: number;
}

/** What usage does to sessions: a report is activity, and whoever is over a ceiling is ended. */
export interface UsageSessions {
  readonly limits: VoiceLimits;
  noteActivity(id: string, at: number): Eventually<unknown>;
  endSubject(
    subject: string,
    reason: 'quota_exceeded',
    at: number,
    isMeant: (record: VoiceRecord) => boolean,
  ): Promise<void>;
  endKey(tenantId: string, keyId: string, reason: 'quota_exceeded', at: number): Promise<void>;
}

export interface UsageDeps extends SessionProofDeps, CallerCeilings {
  readonly ledger: Ledger;
  readonly sessions: UsageSessions;
  readonly calendar: (atMs: number) => QuotaDay;
  readonly totalsOf: TotalsOf;
  readonly bus: Pick<Bus, 'publish'>;
}

/**
 * Counts a report and tells the day's totals. Every session of the subject whose own key's ceiling a total then exceeds ends, and every
 * session of the widget key when the total over all its subjects exceeds the key's own. Where it is the ceiling of whom the report is for,
 * the answer is DAILY_QUOTA_EXCEEDED, which says that the report was counted.
 * @returns a Refusal USAGE_IMPLAUSIBLE or IDEMPOTENCY_MISMATCH when nothing was counted
 * @throws Unavailable when the database is away: then nothing is counted.
 */
export async function reportUsage(who: UsageSubject, report: UsageReport, deps: UsageDeps): Promise<Usage | Refusal> {
  const { subject, tenantId, keyId, sessionId, sessionAtMost } = who;
  const { tokens, microDollars, atMs, idempotencyKey } = report;
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
    keyAccount: tenantId === null || keyId === null ? null : keyAccount(tenantId, keyId),
    idempotency:
      idempotencyKey === undefined ? null : { key: idempotencyKey, bodyHash: hashOf(sessionId, tokens, microDollars) },
  });
  if (answer.kind === 'mismatch')
    return new Refusal('IDEMPOTENCY_MISMATCH', 'This Idempotency-Key was used for another report; use a new key.');
  if (answer.kind === 'implausible') return implausibleRefusal();
  if (sessionId !== null && answer.kind === 'counted') await deps.sessions.noteActivity(sessionId, atMs);
  const { totals } = answer;
  // A repeat on a later day gets the reply of its own day, and does nothing to what goes on today.
  const isToday = answer.day === today.day;
  if (isToday) await endWhatExceeds(who, totals, atMs, deps);
  const isKeyOver = isTotalOver(who, answer.keyTotals, deps);
  if (isKeyOver && isToday) await deps.sessions.endKey(tenantId ?? '', keyId ?? '', 'quota_exceeded', atMs);
  if (answer.kind === 'counted') warnOfCeilings(who, totals, { tokens, microDollars }, deps);
  const limits = deps.limitsOf(who.caller, tenantId ?? '', keyId);
  const view = usageView(totals, limits, isToday ? today : recentDay(deps.calendar, answer.day, atMs));
  if (!isKeyOver && !exceeds(totals, limits)) return view;
  // The session that reports it has just ended.
  const words = sessionId === null ? {} : { userMessage: END_REASONS.quota_exceeded.userMessage };
  return quotaRefusal({ counted: true, usage: view, ...words });
}

/** Whether all subjects of the key together are over its own ceiling. */
function isTotalOver(
  { tenantId, keyId }: UsageSubject,
  keyTotals: UsageTotals | null,
  { totalsOf }: Pick<UsageDeps, 'totalsOf'>,
): boolean {
  return keyTotals !== null && exceeds(keyTotals, totalCeilings(totalsOf(tenantId ?? '', keyId ?? '')));
}

/** Each session has its own key's ceiling. Most reports exceed none that there is, and ask for no sessions. */
async function endWhatExceeds(who: UsageSubject, totals: UsageTotals, atMs: number, deps: UsageDeps): Promise<void> {
  const ceilings = deps.ceilingsOf(who.caller, who.tenantId ?? '');
  if (!ceilings.some((limits) => exceeds(totals, limits))) return;
  await deps.sessions.endSubject(who.subject, 'quota_exceeded', atMs, ({ caller, tenantId, keyId }) =>
    exceeds(totals, deps.limitsOf(caller, tenantId, keyId)),
  );
}

/** Every node warns the sockets of the subject's sessions, each by its own key's ceiling. */
function warnOfCeilings(who: UsageSubject, after: UsageTotals, entry: UsageTotals, deps: UsageDeps): void {
  const ceilings = deps.ceilingsOf(who.caller, who.tenantId ?? '');
  if (ceilings.some((limits) => nearsCeiling(after, entry, limits)))
    deps.bus.publish({ type: 'quota.neared', subject: who.subject, after, entry });
}

/** @param report what a refused report was counted to; a refused create has none */
export function quotaRefusal(report: Pick<ErrorAdditions, 'counted' | 'usage' | 'userMessage'> = {}): Refusal {
  return new Refusal(
    'DAILY_QUOTA_EXCEEDED',
    report.counted === true
      ? 'This report was counted, so do not send it again; it carried a total over its daily ceiling, which resets at usage.resetAt.'
      : 'The daily token or dollar ceiling is reached; it resets with the next day.',
    report,
  );
}

function implausibleRefusal(): Refusal {
  return new Refusal(
    'USAGE_IMPLAUSIBLE',
    'This is more than a session of this length may report (WIDGET_MAX_TOKENS_PER_MINUTE); nothing was counted. Report as it is used, or from a back end with a service token.',
  );
}

function hashOf(sessionId: string | null, tokens: number, microDollars: number): string {
  return createHash('sha256')
    .update(JSON.stringify([sessionId, tokens, microDollars]))
    .digest('base64url');
}
