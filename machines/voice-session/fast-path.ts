import { activityAtMs, durationEndMs, idleAtMs } from './selectors.ts';
import type { VoiceLimits, VoiceRecord } from './types.ts';

/**
 * The fast path beside the machine: the record after a heartbeat that moves no state, without activating an actor, or undefined when the machine
 * must decide. A property test proves that it answers as the machine does, and whenever nothing moves: whoever changes what a heartbeat
 * does in the machine changes it here as well.
 */
export function fastPath(
  record: VoiceRecord,
  at: number,
  idleSec: number | undefined,
  limits: VoiceLimits,
): VoiceRecord | undefined {
  if (record.endedAtMs !== null) return undefined;
  const seenAtMs = Math.max(at, record.settledAtMs);
  if (seenAtMs >= idleAtMs(record, limits) || seenAtMs > durationEndMs(record, limits)) return undefined;
  return afterHeartbeat(record, seenAtMs, idleSec);
}

/** Written out: this runs for every heartbeat, and a spread of so many fields costs eight times as much. */
function afterHeartbeat(record: VoiceRecord, seenAtMs: number, idleSec = 0): VoiceRecord {
  return {
    id: record.id,
    subject: record.subject,
    caller: record.caller,
    tenantId: record.tenantId,
    agentId: record.agentId,
    keyId: record.keyId,
    named: record.named,
    loginId: record.loginId,
    provider: record.provider,
    upstreamId: record.upstreamId,
    isHeard: record.isHeard,
    startedAtMs: record.startedAtMs,
    lastSeenAtMs: seenAtMs,
    lastActivityAtMs: activityAtMs(record, seenAtMs, idleSec),
    settledAtMs: seenAtMs,
    endedAtMs: record.endedAtMs,
    endReason: record.endReason,
    version: record.version + 1,
  };
}
