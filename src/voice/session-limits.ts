import type { VoiceLimits, VoiceRecord } from '../../machines/voice-session/types.ts';
import { SECOND_MS } from '../kernel/time.ts';
import type { SessionLimits } from '../protocol/session.ts';

/** What ends a session by itself, as its client is told: that it waits for words of a new visitor only while it does. */
export function toldLimits(
  { startedAtMs, wordsDueAtMs }: VoiceRecord,
  { maxMinutes, maxIdleSec }: VoiceLimits,
): SessionLimits {
  const newVisitorSeconds = (wordsDueAtMs - startedAtMs) / SECOND_MS;
  return { maxMinutes, maxIdleSec, ...(wordsDueAtMs > 0 && { newVisitorSeconds }) };
}
