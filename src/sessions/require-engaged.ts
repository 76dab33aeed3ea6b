import { classify, endsByDuration } from '../../machines/voice-session/selectors.ts';
import type { VoiceLimits, VoiceRecord } from '../../machines/voice-session/types.ts';
import { endedRefusal, type Refusal } from '../protocol/refusal.ts';

/**
 * Only an engaged session may have calls (docs/contract.md, section 5.10). One that is idle, or whose time is over, gets the refusal that its next
 * heartbeat would get.
 * @returns a Refusal SESSION_DURATION_EXCEEDED; undefined for an engaged session
 */
export function requireEngaged(record: VoiceRecord, atMs: number, limits: VoiceLimits): Refusal | undefined {
  if (record.endReason !== null) return endedRefusal(record.endReason, limits.maxMinutes);
  if (classify(record, atMs, limits) === 'engaged') return undefined;
  const reason = endsByDuration(record, limits) ? 'duration_exceeded' : 'idle_exceeded';
  return endedRefusal(reason, limits.maxMinutes, `The session is not engaged any more (${reason}); create a new one.`);
}
