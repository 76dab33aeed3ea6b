import { createHash } from 'node:crypto';
import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import { Refusal } from '../kernel/errors.ts';
import type { Bus } from '../stores/bus/contract.ts';
import { keyAccount, type Ledger } from '../stores/ledger/contract.ts';
import type { VoiceSessions } from '../voice/voice-sessions.ts';
import { recentDay, type QuotaDay } from './calendar.ts';
import {
  ceilingsOf,
  exceeds,
  nearsCeiling,
  usageView,
  type LimitsOf,
  type TotalsOf,
  type UsageView,
} from './ceilings.ts';

/** Whom a report is counted for, proven by the caller's credential. */
export interface UsageSubject {
  readonly subject: string;
  readonly caller: VoiceRecord['caller'];
  readonly tenantId: string | null;
  readonly keyId: string | null;
  /** The session that the report names. */
  readonly sessionId: string | null;
}

export interface UsageReport {
  readonly tokens: number;
  readonly microDollars: number;
  readonly idempotencyKey: string | undefined;
  readonly atMs: number;
}

export interface UsageParts {
  readonly ledger: Ledger;
  readonly sessions: VoiceSessions;
  readonly calendar: (atMs: number) => QuotaDay;
  readonly limitsOf: LimitsOf;
  readonly totalsOf: TotalsOf;
  readonly bus: Pick<Bus, 'publish'>;
}

/**
 * Counts a report and tells the day's totals. A report is always counted; when a total then exceeds its ceiling
 * all sessions of the subject end and the answer is DAILY_QUOTA_EXCEEDED (contract section 5). So do all sessions of the widget key when
 * the total over all its subjects exceeds the key's own ceiling.
 * @throws Unavailable when the database is away: then nothing is counted.
 */
export async function reportUsage(
  who: UsageSubject,
  report: UsageReport,
  parts: UsageParts,
): Promise<UsageView | Refusal> {
  const { subject, tenantId, keyId, sessionId } = who;
  const { tokens, microDollars, atMs, idempotencyKey } = report;
  const today = parts.calendar(atMs);
  const answer = await parts.ledger.record({
    subject,
    day: today.day,
    tokens,
    microDollars,
    atMs,
    tenantId,
    sessionId,
    keyAccount: tenantId === null || keyId === null ? null : keyAccount(tenantId, keyId),
    idempotency:
      idempotencyKey === undefined ? null : { key: idempotencyKey, bodyHash: hashOf(sessionId, tokens, microDollars) },
  });
  if (answer.kind === 'mismatch')
    return new Refusal('IDEMPOTENCY_MISMATCH', 'This Idempotency-Key was used for another report; use a new key.');
  if (sessionId !== null && answer.kind === 'counted') await parts.sessions.noteActivity(sessionId, atMs);
  // A repeat on a later day gets the reply of its own day, and does nothing to what goes on today.
  const isToday = answer.day === today.day;
  const limits = parts.limitsOf(who.caller, tenantId ?? '', keyId);
  const isKeyOver =
    answer.keyTotals !== null && exceeds(answer.keyTotals, ceilingsOf(parts.totalsOf(tenantId ?? '', keyId ?? '')));
  if (isKeyOver && isToday) await parts.sessions.endKey(tenantId ?? '', keyId ?? '', 'quota_exceeded', atMs);
  if (isKeyOver) return quotaRefusal();
  if (!exceeds(answer.totals, limits)) {
    if (answer.kind === 'counted' && nearsCeiling(answer.totals, { tokens, microDollars }, limits))
      parts.bus.publish({ type: 'quota.neared', subject });
    return usageView(answer.totals, limits, isToday ? today : recentDay(parts.calendar, answer.day, atMs));
  }
  if (isToday) await parts.sessions.endSubject(subject, 'quota_exceeded', atMs);
  return quotaRefusal();
}

export function quotaRefusal(): Refusal {
  return new Refusal(
    'DAILY_QUOTA_EXCEEDED',
    'The daily token or dollar ceiling is reached; it resets with the next day.',
  );
}

function hashOf(sessionId: string | null, tokens: number, microDollars: number): string {
  return createHash('sha256')
    .update(JSON.stringify([sessionId, tokens, microDollars]))
    .digest('base64url');
}
