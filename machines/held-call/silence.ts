import { isQuiet } from './responses.ts';
import type { Silence } from './conversation-facts.ts';
import type { EventOf, HeldCallContext, Outcome } from './types.ts';

// How long nobody has said anything in a call, for an agent that asks whether somebody is there.

export const noSilence: Silence = {
  sinceMs: null,
  isVisitorSpeaking: false,
  isAgentSpeaking: false,
  isToolCalled: false,
  isAsked: false,
};

export function withSilence(call: HeldCallContext, change: Partial<Silence>): HeldCallContext {
  return { ...call, silence: { ...call.silence, ...change } };
}

/** The call is heard from now on: whether speech that began before goes on is unknown. */
export function heardAnew(call: HeldCallContext, at: number): HeldCallContext {
  return withSilence(call, { sinceMs: at, isVisitorSpeaking: false, isAgentSpeaking: false });
}

/** The agent asks again only after the visitor has said something. */
export function spoken(call: HeldCallContext, { at, who, isOn }: EventOf<'SPEECH'>): HeldCallContext {
  if (who === 'agent') return withSilence(call, { sinceMs: at, isAgentSpeaking: isOn });
  return withSilence(call, { sinceMs: at, isVisitorSpeaking: isOn, isToolCalled: false, isAsked: false });
}

/** The transcript may arrive while the visitor is already speaking again, so that stays as it is. */
export function written(call: HeldCallContext, at: number): HeldCallContext {
  return withSilence(call, { sinceMs: at, isToolCalled: false, isAsked: false });
}

/** Whether it is time for the agent to ask whether somebody is there. */
export function isTooSilent(call: HeldCallContext, at: number): boolean {
  const { askAfterMs, silence, responses, record, sideband, end } = call;
  if (askAfterMs === null || silence.sinceMs === null || silence.isAsked || at - silence.sinceMs < askAfterMs)
    return false;
  const isSpeaking = silence.isVisitorSpeaking || silence.isAgentSpeaking || !isQuiet(responses);
  // A response is on its way, or follows a tool's answer.
  const isAnswering = responses.wish.wanted !== null || responses.wish.isAsked || silence.isToolCalled;
  const goesOn = record.state === 'open' && sideband.heardAtMs !== null && end.said === null && end.wanted === null;
  return goesOn && !isSpeaking && !isAnswering;
}

export function askedWhoIsThere(call: HeldCallContext, at: number): Outcome {
  return isTooSilent(call, at) ? [withSilence(call, { isAsked: true }), [{ type: 'askWhoIsThere' }]] : [call, []];
}
