import type { VoiceFact, VoiceRecord } from '../../machines/voice-session/types.ts';
import type { DestroyReason } from '../../machines/auth-session/types.ts';
import { clip } from '../kernel/clip.ts';
import type { Dependency } from '../kernel/errors.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

export interface VerdictTold {
  readonly provider: string;
  readonly isBot: boolean;
  readonly isVerifiedBot: boolean;
  readonly confidence: number;
  readonly degraded?: boolean | undefined;
  readonly reason?: string | undefined;
}

/** One function per business event: it is logged and counted here, and nowhere else. No secret, code, token or address is told. */
export type Events = ReturnType<typeof createEvents>;

/** Refusals repeat what was sent (an origin, a path, a method), which may have many kilobytes. */
const MAX_ERROR_LENGTH = 300;

export function createEvents(log: Log, metrics: Metrics) {
  return {
    sessionOpened(record: VoiceRecord, requestId: string): void {
      metrics.started.inc({ caller: record.caller, tenant: record.tenantId });
      const { caller, tenantId, agentId, keyId, provider } = record;
      log.info({
        event: 'session.opened',
        session: shortId(record),
        caller,
        tenantId,
        agentId,
        keyId,
        provider,
        requestId,
      });
    },

    sessionMoved(record: VoiceRecord, fact: VoiceFact): void {
      if (fact.type === 'session.ended') metrics.ended.inc({ reason: fact.reason });
      log.info({
        event: fact.type,
        session: shortId(record),
        tenantId: record.tenantId,
        reason: record.endReason ?? undefined,
      });
    },

    refused(code: string, route: string, requestId: string, error: string): void {
      metrics.refused.inc({ code });
      log.info({ event: 'request.refused', refusal: code, route, requestId, error: clip(error, MAX_ERROR_LENGTH) });
    },

    botJudged(verdict: VerdictTold, requestId: string): void {
      const outcome = verdict.isBot ? (verdict.isVerifiedBot ? 'verified_bot' : 'bot') : 'human';
      metrics.verdicts.inc({ provider: verdict.provider, verdict: outcome });
      log.info({ event: 'bot.judged', requestId, verdict: outcome, ...verdict });
    },

    loggedIn(loginId: string, requestId: string): void {
      log.info({ event: 'login.opened', loginId, requestId });
    },

    loginDestroyed(loginId: string, reason: DestroyReason): void {
      log.info({ event: 'login.destroyed', loginId, reason });
    },

    operatorActed(actor: string, action: string, target: string, requestId: string): void {
      log.warn({ event: 'operator.acted', actor, action, target, requestId });
    },

    dependencyAway(dependency: Dependency, error: unknown, requestId?: string): void {
      metrics.faults.inc({ dependency });
      log.warn({ event: 'dependency.away', dependency, requestId, err: error });
    },

    faulted(error: unknown, requestId: string | undefined, where: string): void {
      log.error({ event: 'fault', where, requestId, err: error });
    },

    warned(message: string, about: Record<string, unknown> = {}): void {
      log.warn({ event: 'warning', ...about }, message);
    },
  };
}

/** Enough of a session's id to find it, too little to use it: the whole id is the caller's proof. */
function shortId(record: VoiceRecord): string {
  return record.id.slice(0, 42);
}
