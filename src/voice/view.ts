import { END_REASONS } from '../../machines/voice-session/end-reasons.ts';
import { durationSec, idleSec } from '../../machines/voice-session/selectors.ts';
import type { EndReason, VoiceRecord } from '../../machines/voice-session/types.ts';
import { isoInstant } from '../kernel/clock.ts';
import type { SessionView } from '../protocol/session.ts';

/** A record as its client sees it at a time. */
export function viewOf(record: VoiceRecord, at: number): SessionView {
  return {
    active: record.endedAtMs === null,
    startedAt: isoInstant(record.startedAtMs),
    lastSeenAt: isoInstant(record.lastSeenAtMs),
    durationSec: durationSec(record, at),
    idleSec: idleSec(record, at),
  };
}

/** As JSON.stringify writes it, at a fraction of the cost: nothing in a view needs escaping. */
export function viewText({ active, startedAt, lastSeenAt, durationSec, idleSec }: SessionView): string {
  return `{"active":${active},"startedAt":"${startedAt}","lastSeenAt":"${lastSeenAt}","durationSec":${durationSec},"idleSec":${idleSec}}`;
}

/** Reasons after which a console caller's login is destroyed (docs/contract.md, section 5.9, "the JWT is cleared"). */
export function isViolation(reason: EndReason | null): boolean {
  return reason !== null && END_REASONS[reason].isViolation;
}
