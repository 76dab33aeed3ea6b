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
  if (movesState(record, at, limits)) return undefined;
  const seenAtMs = Math.max(at, record.settledAtMs);
  return touched(record, seenAtMs, activityAtMs(record, seenAtMs, idleSec ?? 0), seenAtMs);
}

/** The same of activity that is no heartbeat: a usage report that names the session. */
export function activityFastPath(record: VoiceRecord, at: number, limits: VoiceLimits): VoiceRecord | undefined {
  if (movesState(record, at, limits)) return undefined;
  const atMs = Math.max(at, record.settledAtMs);
  return touched(record, record.lastSeenAtMs, atMs, atMs);
}

/** Whether the session is not engaged any more when an event of that time is met. */
function movesState(record: VoiceRecord, at: number, limits: VoiceLimits): boolean {
  const metAtMs = Math.max(at, record.settledAtMs);
  return record.endedAtMs !== null || metAtMs >= idleAtMs(record, limits) || metAtMs > durationEndMs(record, limits);
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
