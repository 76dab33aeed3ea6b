import type { VoiceLimits, VoiceRecord } from '../../machines/voice-session/types.ts';
import { SECOND_MS } from '../kernel/time.ts';
import type { SessionLimits } from '../protocol/session.ts';

/**
 * The limits that end a session by itself, as its client is told; `newVisitorSeconds` only while the session waits for a new visitor's first words.
 */
export function toldLimits(
  { startedAtMs, wordsDueAtMs }: VoiceRecord,
  { maxMinutes, maxIdleSec }: VoiceLimits,
): SessionLimits {
  const newVisitorSeconds = (wordsDueAtMs - startedAtMs) / SECOND_MS;
  return { maxMinutes, maxIdleSec, ...(wordsDueAtMs > 0 && { newVisitorSeconds }) };
}
