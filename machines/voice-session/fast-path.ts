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
  const metAtMs = engagedAt(record, at, limits);
  if (metAtMs === undefined) return undefined;
  return touched(record, metAtMs, activityAtMs(record, metAtMs, idleSec ?? 0), metAtMs);
}

/** The same of activity that is no heartbeat: a usage report that names the session. */
export function activityFastPath(record: VoiceRecord, at: number, limits: VoiceLimits): VoiceRecord | undefined {
  const metAtMs = engagedAt(record, at, limits);
  return metAtMs === undefined ? undefined : touched(record, record.lastSeenAtMs, metAtMs, metAtMs);
}

/** The time that an event counts at, which is never before what the record tells already; undefined unless the session is engaged then. */
function engagedAt(record: VoiceRecord, at: number, limits: VoiceLimits): number | undefined {
  if (record.endedAtMs !== null) return undefined;
  const metAtMs = Math.max(at, record.settledAtMs);
  return metAtMs >= idleAtMs(record, limits) || metAtMs > durationEndMs(record, limits) ? undefined : metAtMs;
}

/** Written out: this runs for every heartbeat, and a spread of so many fields costs eight times as much. */
function touched(
  record: VoiceRecord,
  lastSeenAtMs: number,
  lastActivityAtMs: number,
  settledAtMs: number,
): VoiceRecord {
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
    lastSeenAtMs,
    lastActivityAtMs,
    settledAtMs,
    endedAtMs: record.endedAtMs,
    endReason: record.endReason,
    version: record.version + 1,
  };
}
