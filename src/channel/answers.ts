import { classify, savedState } from '../../machines/voice-session/selectors.ts';
import type { EndReason, VoiceRecord, VoiceState } from '../../machines/voice-session/types.ts';
import { Unavailable } from '../kernel/errors.ts';
import { endedRefusal, type Refusal } from '../protocol/refusal.ts';
import { ERROR_CODES } from '../protocol/error-codes.ts';
import { edgeRefusal, withLimit } from '../limits/edge.ts';
import type { WindowCount } from '../stores/windows/contract.ts';
import { viewOf } from '../voice/view.ts';
import type { ChannelDeps } from './deps.ts';
import type { ClientFrame, ServerFrame } from '../protocol/frames.ts';

/** The state to tell of a session that has not ended: of an end that is due but has not happened there is no reason to tell yet. */
export function toldState(record: VoiceRecord, at: number, { sessions }: Pick<ChannelDeps, 'sessions'>): VoiceState {
  const state = classify(record, at, sessions.limits);
  return state === 'ended' ? savedState(record, sessions.limits) : state;
}

export function attachedFrame(record: VoiceRecord, state: VoiceState, at: number, deps: ChannelDeps): ServerFrame {
  const { maxMinutes, maxIdleSec } = deps.sessions.limits;
  return {
    type: 'attached',
    session: viewOf(record, at),
    state,
    heartbeat: { intervalSec: deps.heartbeatIntervalSec },
    limits: { maxMinutes, maxIdleSec },
  };
}

export function endedFrame(reason: EndReason, { sessions }: Pick<ChannelDeps, 'sessions'>): ServerFrame {
  const { maxMinutes } = sessions.limits;
  const { code, userMessage } = endedRefusal(reason, maxMinutes);
  return { type: 'ended', code, reason, userMessage, maxMinutes };
}

/** The answer to a frame that failed; the client may send it again. */
export function faultFrame(fault: unknown, frame: ClientFrame): ServerFrame {
  const code = fault instanceof Unavailable ? 'SERVICE_UNAVAILABLE' : 'INTERNAL_ERROR';
  return { type: 'error', code, userMessage: ERROR_CODES[code].userMessage, id: 'id' in frame ? frame.id : undefined };
}

export function refusalFrame({ code, error, userMessage, additions }: Refusal, id: string): ServerFrame {
  const { retryAfter, counted, usage } = additions;
  return { type: 'error', code, error, userMessage, id, retryAfter, counted, usage };
}

/** The refusal of a frame that the window of its address has no room for. */
export function windowRefusal(count: WindowCount, at: number, { edge }: Pick<ChannelDeps, 'edge'>): Refusal {
  return edgeRefusal(withLimit(count, edge.perAddress), at);
}
