import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import { rateSession } from '../voice/rate-session.ts';
import type { ChannelDeps } from './deps.ts';

/** Keeps the rating of an attached session; the client gets no answer. @throws Unavailable when the database is away */
export async function answerRating(
  record: VoiceRecord,
  value: number,
  atMs: number,
  { stores, sessions }: ChannelDeps,
): Promise<void> {
  await rateSession(record, value, atMs, stores.history, sessions.limits.maxMinutes);
}
