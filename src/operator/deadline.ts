import { nextMove } from '../../machines/voice-session/selectors.ts';
import type { VoiceLimits, VoiceRecord } from '../../machines/voice-session/types.ts';
import { iso } from '../kernel/time.ts';
import type { OperatorSession } from '../protocol/operator/session.ts';

/** When the clock alone changes a session next, as operators see it. */
export function deadlineOf(record: VoiceRecord, limits: VoiceLimits): OperatorSession['deadline'] {
  const move = nextMove(record, limits);
  return move === undefined ? null : { at: iso(move.atMs), to: move.to, reason: move.reason };
}
