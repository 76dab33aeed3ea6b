import type { Eventually } from '../kernel/async.ts';
import type { VoiceSessions } from '../sessions/sessions.ts';
import { durationEndMs, endsByDuration, idleAtMs } from '../../machines/voice-session/selectors.ts';
import type { VoiceLimits, VoiceRecord } from '../../machines/voice-session/types.ts';

/** Seconds before an end at which a client is warned (docs/contract.md, section 7.3). */
const EARLY_SEC = 60;
const LATE_SEC = 10;

/** A warning that is due now. */
export interface Warning {
  readonly reason: 'duration' | 'idle';
  readonly secondsLeft: number;
  /** Which of the two thresholds it belongs to: the client is warned of an end once at each. */
  readonly thresholdSec: number;
  /** The end that it warns of; new activity moves the end, which calls for new warnings. */
  readonly endAtMs: number;
}

/** The warning that is due at a time, unless it, or a later one for the same end, was the last that was told. */
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

/** The warning that is due at a time, if any, about the end that comes first. */
function warningAt(record: VoiceRecord, at: number, limits: VoiceLimits): Warning | undefined {
  const byDuration = endsByDuration(record, limits);
  const endAtMs = byDuration ? durationEndMs(record, limits) : idleAtMs(record, limits);
  const leftMs = endAtMs - at;
  if (leftMs <= 0 || leftMs > EARLY_SEC * 1000) return undefined;
  const thresholdSec = leftMs <= LATE_SEC * 1000 ? LATE_SEC : EARLY_SEC;
  // A limit shorter than the notice would cause a warning from its beginning, repeated with every heartbeat.
  const beganAtMs = byDuration ? record.startedAtMs : record.lastActivityAtMs;
  if (endAtMs - thresholdSec * 1000 <= beganAtMs + 1000) return undefined;
  // A new visitor's session does not end if they speak, so the warning says that it is quiet.
  const areWordsDue = record.wordsDueAtMs > 0 && endAtMs === record.wordsDueAtMs;
  return {
    reason: byDuration && !areWordsDue ? 'duration' : 'idle',
    secondsLeft: Math.ceil(leftMs / 1000),
    thresholdSec,
    endAtMs,
  };
}

/** The current record of a session; where that cannot be read, the known one. */
export function presentOr(record: VoiceRecord, sessions: Pick<VoiceSessions, 'find'>): Eventually<VoiceRecord> {
  const present = sessions.find(record.id);
  return present instanceof Promise
    ? present.then(
        (found) => found ?? record,
        () => record,
      )
    : (present ?? record);
}
