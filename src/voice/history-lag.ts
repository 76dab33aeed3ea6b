import { nextDeadline, savedState } from '../../machines/voice-session/selectors.ts';
import type { VoiceLimits, VoiceRecord } from '../../machines/voice-session/types.ts';
import { MINUTE_MS, SECOND_MS } from '../kernel/time.ts';

/**
 * A session's life is divided into windows of this many milliseconds, counted from its start; the history gets the first heartbeat of each window. So
 * its last activity there is never a whole window behind the registry's, unless a write was lost with its node.
 */
export function historyWindowMs({ maxIdleSec }: VoiceLimits): number {
  return Math.max(MINUTE_MS, (maxIdleSec * SECOND_MS) / 4);
}

/** How much later than the history says a session may have been active, in milliseconds, even if one write was lost with its node. */
export function benefitMs(limits: VoiceLimits): number {
  return 2 * historyWindowMs(limits);
}

/**
 * How to treat an engaged session that only the history knows: as active as lately as the history may have missed. If it is due even so, the record
 * stays as the history has it, so that its end is dated by the last known activity.
 * @param at now
 */
export function withBenefit(known: VoiceRecord, at: number, limits: VoiceLimits): VoiceRecord {
  // Transitions are written at once: only heartbeats can be missing.
  if (savedState(known, limits) !== 'engaged') return known;
  const lastActivityAtMs = Math.max(known.lastActivityAtMs, Math.min(at, known.lastActivityAtMs + benefitMs(limits)));
  const active = { ...known, lastActivityAtMs };
  return nextDeadline(active, limits) <= at ? known : active;
}
