import { classify, savedState, toldLimits } from '../../machines/voice-session/selectors.ts';
import type { EndReason, VoiceRecord, VoiceState } from '../../machines/voice-session/types.ts';
import { Unavailable } from '../kernel/errors.ts';
import { endedRefusal, type Refusal } from '../protocol/refusal.ts';
import type { Language } from '../protocol/visitor-messages/languages.ts';
import { VISITOR_MESSAGES } from '../protocol/visitor-messages/by-language.ts';
import { viewOf, viewText } from '../voice/records.ts';
import type { ChannelDeps } from './deps.ts';
import type { ClientFrame, ServerFrame } from '../protocol/frames.ts';

/** The state to report for a session that has not ended: an end that is due but has not happened yet has no reason to report. */
export function toldState(record: VoiceRecord, at: number, { sessions }: Pick<ChannelDeps, 'sessions'>): VoiceState {
  const state = classify(record, at, sessions.limits);
  return state === 'ended' ? savedState(record, sessions.limits) : state;
}

export function attachedFrame(
  record: VoiceRecord,
  state: VoiceState,
  at: number,
  resume: string | undefined,
  deps: ChannelDeps,
): ServerFrame {
  return {
    type: 'attached',
    session: viewOf(record, at),
    state,
    heartbeat: { intervalSec: deps.config.heartbeatIntervalSec },
    limits: toldLimits(record, deps.sessions.limits),
    resume,
  };
}

/**
 * The answer to a heartbeat of an engaged session as text: what JSON.stringify would make of the frame, at a third of its cost. Only the id can hold
 * a character that needs escaping.
 */
export function heartbeatAnswer(record: VoiceRecord, at: number, id: string | number | undefined): string {
  const idText = id === undefined ? '' : `"id":${typeof id === 'string' ? JSON.stringify(id) : id},`;
  return `{"type":"heartbeat",${idText}"session":${viewText(record, at)},"state":"engaged"}`;
}

/** The frame for a new visitor's first words. @param record the last one known */
export function spokeFrame(record: VoiceRecord, at: number, deps: Pick<ChannelDeps, 'sessions'>): ServerFrame {
  const present = { ...record, wordsDueAtMs: 0 };
  return { type: 'state', state: toldState(present, at, deps), session: viewOf(present, at) };
}

export function endedFrame(
  reason: EndReason,
  language: Language,
  { sessions }: Pick<ChannelDeps, 'sessions'>,
): ServerFrame {
  const { maxMinutes } = sessions.limits;
  const refusal = endedRefusal(reason, maxMinutes);
  return { type: 'ended', code: refusal.code, reason, userMessage: refusal.wordsIn(language), maxMinutes };
}

/** The answer to a frame that failed; the client may send it again. */
export function faultFrame(fault: unknown, frame: ClientFrame, language: Language): ServerFrame {
  const code = fault instanceof Unavailable ? 'SERVICE_UNAVAILABLE' : 'INTERNAL_ERROR';
  const userMessage = VISITOR_MESSAGES[language].errors[code];
  return { type: 'error', code, userMessage, id: 'id' in frame ? frame.id : undefined };
}

/** The answer to a message that is not a frame. */
export function badFrame(language: Language): ServerFrame {
  return { type: 'error', code: 'INVALID_REQUEST', userMessage: VISITOR_MESSAGES[language].errors.INVALID_REQUEST };
}

export function refusalFrame(refusal: Refusal, id: string | undefined, language: Language): ServerFrame {
  const { code, error, additions } = refusal;
  const { retryAfter, counted, usage } = additions;
  return { type: 'error', code, error, userMessage: refusal.wordsIn(language), id, retryAfter, counted, usage };
}
