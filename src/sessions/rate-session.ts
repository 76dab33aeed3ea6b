import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import { MINUTE_MS } from '../kernel/time.ts';
import { endedRefusal, type Refusal } from '../protocol/refusal.ts';
import type { VoiceHistory } from '../stores/voice-history/contract.ts';

/** Visitors are asked at the end; a much later answer is about something else. */
const MAX_LATE_MS = 5 * MINUTE_MS;

/**
 * Keeps the visitor's rating of a conversation, beside its record: the last rating counts (docs/contract.md, section 5.18).
 * @param rating a whole number from 1 to 5
 * @returns SESSION_DURATION_EXCEEDED from five minutes after the end on
 * @throws Unavailable when the database is away
 */
export async function rateSession(
  { id, endReason, endedAtMs }: VoiceRecord,
  rating: number,
  atMs: number,
  history: Pick<VoiceHistory, 'rate'>,
  maxMinutes: number,
): Promise<Refusal | undefined> {
  if (endReason !== null && endedAtMs !== null && atMs - endedAtMs > MAX_LATE_MS) {
    return endedRefusal(endReason, maxMinutes, `The session has ended (${endReason}), too long ago to be rated.`);
  }
  await history.rate(id, rating);
  return undefined;
}
