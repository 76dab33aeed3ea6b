import { nextDeadline, savedState } from '../../machines/voice-session/selectors.ts';
import type { VoiceLimits, VoiceRecord } from '../../machines/voice-session/types.ts';
import { MINUTE_MS, SECOND_MS } from '../kernel/time.ts';

/**
 * The life of a session is cut into windows of this length, in milliseconds from its start on; of the heartbeats of one window the history
 * gets the first. So its last activity there is never a whole window behind the registry's, unless a write died with its node.
 */
export function historyWindowMs({ maxIdleSec }: VoiceLimits): number {
  return Math.max(MINUTE_MS, (maxIdleSec * SECOND_MS) / 4);
}

/** How much later than the history tells somebody may have been active, in milliseconds: also where one write died with its node. */
export function benefitMs(limits: VoiceLimits): number {
  return 2 * historyWindowMs(limits);
}

/**
 * The record of an engaged session as it is taken where only the history knows of it: active as lately as the history may have missed. What
 * is due all the same stays as the history tells it, and so is dated by the last activity that is known.
 * @param at now
 */
export function withBenefit(known: VoiceRecord, at: number, limits: VoiceLimits): VoiceRecord {
  // Transitions are written at once: only of heartbeats some are missing.
  if (savedState(known, limits) !== 'engaged') return known;
  const lastActivityAtMs = Math.max(known.lastActivityAtMs, Math.min(at, known.lastActivityAtMs + benefitMs(limits)));
  const active = { ...known, lastActivityAtMs };
  return nextDeadline(active, limits) <= at ? known : active;
}
