import { durationEndMs, idleAtMs } from '../../machines/voice-session/selectors.ts';
import type { VoiceLimits, VoiceRecord } from '../../machines/voice-session/types.ts';

/** Seconds before an end at which a client is warned (contract section 7), the later one first. */
const THRESHOLDS_SEC = [10, 60] as const;

export interface Warning {
  readonly reason: 'duration' | 'idle';
  readonly secondsLeft: number;
}

/** Remembers what one socket was warned of: each end and threshold once, an idle end again after new activity. */
export class Warnings {
  #told = new Map<string, number>();

  /** The warning that is due, if any; asking again without a warning changes nothing. */
  due(record: VoiceRecord, at: number, limits: VoiceLimits): Warning | undefined {
    const durationAt = durationEndMs(record, limits);
    const idleAt = idleAtMs(record, limits);
    const [reason, endAt] = durationAt < idleAt ? (['duration', durationAt] as const) : (['idle', idleAt] as const);
    const leftMs = endAt - at;
    if (leftMs <= 0 || leftMs > THRESHOLDS_SEC[1] * 1000) return undefined;
    const threshold = leftMs <= THRESHOLDS_SEC[0] * 1000 ? THRESHOLDS_SEC[0] : THRESHOLDS_SEC[1];
    const told = this.#told.get(`${reason}:${endAt}`);
    return told !== undefined && told <= threshold ? undefined : { reason, secondsLeft: Math.ceil(leftMs / 1000) };
  }

  /** Notes that a warning was sent. */
  note(record: VoiceRecord, { reason, secondsLeft }: Warning, limits: VoiceLimits): void {
    const endAt = reason === 'duration' ? durationEndMs(record, limits) : idleAtMs(record, limits);
    this.#told = new Map([
      [`${reason}:${endAt}`, secondsLeft <= THRESHOLDS_SEC[0] ? THRESHOLDS_SEC[0] : THRESHOLDS_SEC[1]],
    ]);
  }
}
