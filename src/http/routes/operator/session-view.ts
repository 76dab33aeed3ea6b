import type { VoiceLimits, VoiceRecord, VoiceState } from '../../../../machines/voice-session/types.ts';
import { seesWholeIds, type Operator } from '../../../auth/operators.ts';
import { refOf } from '../../../kernel/ids.ts';
import { isoOrNull } from '../../../kernel/time.ts';
import { deadlineOf } from '../../../operator/deadline.ts';
import { usedOf } from '../../../operator/used.ts';
import type { OperatorSession } from '../../../protocol/operator/session.ts';
import type { UsageTotals } from '../../../stores/ledger/contract.ts';
import { viewOf } from '../../../voice/records.ts';
import { sample } from '../../samples.ts';

export const exampleSession: OperatorSession = {
  id: sample.sm_session_id,
  ref: refOf(sample.sm_session_id),
  state: 'engaged',
  caller: 'widget',
  emailHash: '7f3a1c0e8b7d2a49c3b6e5f0a1d2c3b4',
  tenantId: 'acme',
  agentId: 'support',
  keyId: 'site',
  provider: 'openai',
  upstreamId: 'sess_C9CwUVUzUzYIssh3ELY1d',
  endedAt: null,
  endReason: null,
  deadline: { at: '2030-01-01T12:15:00.001Z', to: 'ended', reason: 'duration_exceeded' },
  session: sample.session,
  usage: { tokens: 1833, dollars: 0.064187 },
};

/** How an operator sees a record that is in a state. @param usage undefined where it used nothing */
export function describe(
  record: VoiceRecord,
  state: VoiceState,
  at: number,
  operator: Operator,
  limits: VoiceLimits,
  usage: UsageTotals = { tokens: 0, microDollars: 0 },
): OperatorSession {
  const {
    id,
    caller,
    subject: emailHash,
    tenantId,
    agentId,
    keyId,
    provider,
    upstreamId,
    endedAtMs,
    endReason,
  } = record;
  const endedAt = isoOrNull(endedAtMs);
  return {
    id: seesWholeIds(operator) ? id : refOf(id),
    ref: refOf(id),
    state,
    caller,
    emailHash,
    tenantId,
    agentId,
    keyId,
    provider,
    upstreamId,
    endedAt,
    endReason,
    deadline: deadlineOf(record, limits),
    session: viewOf(record, at),
    usage: usedOf(usage),
  };
}
