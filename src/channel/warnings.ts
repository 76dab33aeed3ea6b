import type { Eventually } from '../kernel/eventually.ts';
import type { VoiceSessions } from '../voice/sessions.ts';
import { durationEndMs, endsByDuration, idleAtMs } from '../../machines/voice-session/selectors.ts';
import type { VoiceLimits, VoiceRecord } from '../../machines/voice-session/types.ts';

/** Seconds before an end at which a client is warned (docs/contract.md, section 7.3). */
const EARLY_SEC = 60;
const LATE_SEC = 10;

/** A warning that is due now. */
export interface Warning {
  readonly reason: 'duration' | 'idle';
  readonly secondsLeft: number;
  /** Which of the two warnings it is: an end is warned of once at each. */
  readonly thresholdSec: number;
  /** The end that it warns of; new activity moves it, and then there are new warnings. */
  readonly endAtMs: number;
}

/** The warning that holds at a time, unless it, or a later one of the same end, is the last that was told. */
export function untoldWarning(
  record: VoiceRecord,
  at: number,
  limits: VoiceLimits,
  told: Warning | undefined,
): Warning | undefined {
  const warning = warningAt(record, at, limits);
  const isTold = warning?.endAtMs === told?.endAtMs && (told?.thresholdSec ?? 0) <= (warning?.thresholdSec ?? 0);
  return isTold ? undefined : warning;
}

/** The warning that holds at a time, if any: of the end that comes first. */
function warningAt(record: VoiceRecord, at: number, limits: VoiceLimits): Warning | undefined {
  const byDuration = endsByDuration(record, limits);
  const endAtMs = byDuration ? durationEndMs(record, limits) : idleAtMs(record, limits);
  const leftMs = endAtMs - at;
  if (leftMs <= 0 || leftMs > EARLY_SEC * 1000) return undefined;
  const thresholdSec = leftMs <= LATE_SEC * 1000 ? LATE_SEC : EARLY_SEC;
  // A limit that is no longer than the notice would be warned of from its beginning, with every heartbeat again.
  const beganAtMs = byDuration ? record.startedAtMs : record.lastActivityAtMs;
  if (endAtMs - thresholdSec * 1000 <= beganAtMs + 1000) return undefined;
  // Of a new visitor who says something the session does not end then: what is told is that it is quiet.
  const areWordsDue = record.wordsDueAtMs > 0 && endAtMs === record.wordsDueAtMs;
  return {
    reason: byDuration && !areWordsDue ? 'duration' : 'idle',
    secondsLeft: Math.ceil(leftMs / 1000),
    thresholdSec,
    endAtMs,
  };
}

/** The present record of a session; where that cannot be read, the known one is the best guess. */
export function presentOr(record: VoiceRecord, sessions: Pick<VoiceSessions, 'find'>): Eventually<VoiceRecord> {
  const present = sessions.find(record.id);
  return present instanceof Promise
    ? present.then(
        (found) => found ?? record,
        () => record,
      )
    : (present ?? record);
}
