import type { Config } from '../../config/config.ts';
import { durationEndMs, idleAtMs } from '../../machines/voice-session/selectors.ts';
import type { VoiceLimits, VoiceRecord } from '../../machines/voice-session/types.ts';
import type { Eventually } from '../kernel/async.ts';
import { MINUTE_MS } from '../kernel/time.ts';
import { endedRefusal, type Refusal } from '../protocol/refusal.ts';
import { LATE_REPORT_MS } from '../protocol/usage.ts';
import type { UsageTotals } from '../stores/ledger/contract.ts';
import { invalidWidgetKey } from '../tenants/directory.ts';
import type { UsageOwner } from './ceiling-exceeded.ts';
import type { CallerLimits, LimitsOf } from './ceilings.ts';

/** Who a report is counted for, proved by the caller's credential. */
export interface UsageSubject extends UsageOwner {
  /** The most that its client may report for it in all; null is no limit. */
  readonly sessionAtMost: UsageTotals | null;
  /** Whether the session's own client reports. */
  readonly isClient: boolean;
}

export interface ReporterDeps {
  readonly sessions: { readonly limits: VoiceLimits };
  readonly limitsOf: LimitsOf;
  readonly tenants: { isRevoked(tenantId: string, keyId: string): Eventually<boolean> };
  readonly config: Pick<Config, 'widgetTokensPerMinute'>;
}

/**
 * Finds out who a report that names a session is counted for. A session id proves its subject to a client during the session and for five minutes
 * after its end, but never for a revoked key; a service token may report any amount for any session.
 * @returns a Refusal INVALID_WIDGET_KEY, or SESSION_DURATION_EXCEEDED as for a late heartbeat
 */
export async function subjectOfSession(
  record: VoiceRecord,
  isService: boolean,
  atMs: number,
  deps: ReporterDeps,
): Promise<UsageSubject | Refusal> {
  const { subject, caller, tenantId, keyId, id: sessionId, endedAtMs, endReason } = record;
  const who = { subject, caller, tenantId, keyId, sessionId, sessionAtMost: null, isClient: !isService };
  if (isService) return who;
  if (keyId !== null && (await deps.tenants.isRevoked(tenantId, keyId)))
    return invalidWidgetKey({ tenantId, keyId, fact: 'the key is revoked' });
  if (endedAtMs !== null && endReason !== null && atMs > endedAtMs + LATE_REPORT_MS)
    return endedRefusal(
      endReason,
      deps.sessions.limits.maxMinutes,
      `The session ended more than five minutes ago (${endReason}), so its client reports no usage any more; a service token may.`,
    );
  return { ...who, sessionAtMost: atMostOf(record, atMs, deps) };
}

/**
 * The most that a widget's client may have reported in all: so many tokens for each started minute and for one more, since a report may include what
 * the last minute began; dollars in proportion to the daily ceilings.
 */
function atMostOf(record: VoiceRecord, atMs: number, deps: ReporterDeps): UsageTotals | null {
  const { limitsOf, sessions } = deps;
  const { widgetTokensPerMinute } = deps.config;
  if (widgetTokensPerMinute === 0 || record.caller !== 'widget') return null;
  const begun = Math.floor(connectedMs(record, atMs, sessions.limits) / MINUTE_MS) + 1;
  const tokens = (begun + 1) * widgetTokensPerMinute;
  return { tokens, microDollars: inProportion(tokens, limitsOf(record.caller, record.tenantId, record.keyId)) };
}

/** A session's time ends when it goes idle: its call is hung up then. */
function connectedMs(record: VoiceRecord, atMs: number, limits: VoiceLimits): number {
  const untilMs = Math.min(atMs, record.endedAtMs ?? Infinity, idleAtMs(record, limits), durationEndMs(record, limits));
  return Math.max(0, untilMs - record.startedAtMs);
}

function inProportion(tokens: number, { dailyTokens, dailyMicroDollars }: CallerLimits): number {
  return dailyTokens === 0 ? dailyMicroDollars : Math.floor((tokens * dailyMicroDollars) / dailyTokens);
}
