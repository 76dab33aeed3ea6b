import type { VoiceLimits, VoiceRecord, VoiceState } from '../../../machines/voice-session/types.ts';
import { type Operator, seesWholeIds } from '../roles.ts';
import { refOf } from '../../kernel/ids.ts';
import { iso, isoOrNull } from '../../kernel/time.ts';
import { toUsed } from '../../protocol/operator/usage.ts';
import type { OperatorSession } from '../../protocol/operator/session.ts';
import { NOTHING_USED } from '../../stores/ledger/contract.ts';
import { viewOf } from '../../voice/records.ts';
import { nextMove } from '../../../machines/voice-session/selectors.ts';

/** A session in a state, as an operator sees it. @param usage undefined where it used nothing */
export function toOperatorSession(
  record: VoiceRecord,
  state: VoiceState,
  at: number,
  operator: Operator,
  limits: VoiceLimits,
  usage = NOTHING_USED,
): OperatorSession {
  const { id, caller, tenantId, agentId, keyId, provider, upstreamId, endReason } = record;
  return {
    id: seesWholeIds(operator) ? id : refOf(id),
    ref: refOf(id),
    state,
    caller,
    emailHash: record.subject,
    tenantId,
    agentId,
    keyId,
    provider,
    upstreamId,
    endedAt: isoOrNull(record.endedAtMs),
    endReason,
    deadline: deadlineOf(record, limits),
    session: viewOf(record, at),
    usage: toUsed(usage),
  };
}

/** When the clock alone next changes a session, as operators see it. */
export function deadlineOf(record: VoiceRecord, limits: VoiceLimits): OperatorSession['deadline'] {
  const move = nextMove(record, limits);
  return move === undefined ? null : { at: iso(move.atMs), to: move.to, reason: move.reason };
}
