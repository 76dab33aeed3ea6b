import { isQuiet } from './responses.ts';
import type { EventOf, HeldCallContext, Outcome, Responses, StartedResponse } from './types.ts';

// What the agent of a call is to say: the response that we want next, the last one before a tool ends the session, and the question after a silence.

// The response that we want from the agent: an answer to words or to tools, a greeting, a goodbye.

export function withWish(responses: Responses, change: Partial<Responses['wish']>): Responses {
  return { ...responses, wish: { ...responses.wish, ...change } };
}

/** Whether the call is open, is to stay so, and is heard. */
function isHeardOpen({ record, sideband, end }: HeldCallContext): boolean {
  return record.state === 'open' && sideband.heardAtMs !== null && end.said === null && end.wanted === null;
}

/** Whether the provider would make a response: none of the conversation is running, and none was asked for. */
function mayAsk({ open, inherited, wish, lostAtMs, heardSinceMs }: Responses): boolean {
  const isSpeaking = open.some(({ isInConversation }) => isInConversation);
  return !isSpeaking && inherited === 0 && !wish.isAsked && lostAtMs === null && heardSinceMs !== null;
}

/** Whether a response is still to begin. */
export function isAwaited({ wish }: Responses): boolean {
  return wish.wanted !== null || wish.isAsked;
}

/** If several wait, one is made: the conversation holds everything that they are to answer. */
export function wanting(call: HeldCallContext, instructions: string | null): HeldCallContext {
  const { responses } = call;
  const before = responses.wish.wanted?.instructions ?? null;
  return { ...call, responses: withWish(responses, { wanted: { instructions: instructions ?? before } }) };
}

/** Asks for the wanted response as soon as the provider would make it. */
export function asked(call: HeldCallContext): Outcome {
  const { responses } = call;
  const { wanted } = responses.wish;
  if (wanted === null || !isHeardOpen(call) || !mayAsk(responses)) return [call, []];
  const next = { ...call, responses: withWish(responses, { wanted: null, isAsked: true, isInDoubt: false }) };
  return [next, [{ type: 'createResponse', instructions: wanted.instructions }]];
}

/**
 * The sideband is lost. A response that was asked for and not confirmed is not asked for again: the visitor may have heard it meanwhile. One that is
 * still waiting is asked for once the call is heard again.
 */
export function withoutAsking(responses: Responses): Responses {
  const { wanted, isAsked, isInDoubt } = responses.wish;
  return withWish(responses, { isAsked: false, isInDoubt: isInDoubt || (isAsked && wanted === null) });
}

/** The provider did not receive what was sent before the last request for a response, so it did not receive that request either. */
export function answerTaken(call: HeldCallContext): Outcome {
  return call.responses.wish.isInDoubt ? asked(wanting(call, null)) : [call, []];
}

/** The provider had begun another response itself: ours waits for its end, which is reported later. */
export function refused(call: HeldCallContext, { isBusy, instructions }: EventOf<'RESPONSE_REFUSED'>): Outcome {
  const next = { ...call, responses: withWish(call.responses, { isAsked: false }) };
  return [isBusy ? wanting(lastRefused(next), instructions) : next, []];
}

// A tool has asked for the session to end: the agent answers once more, is heard to the end, and then the call is closed.

/** The longest for each step: until the provider begins the response, until it is done, until it was played. */
const STEP_MS = 60_000;
/** How long after the last response is done the wait ends, whatever else the agent is heard to say meanwhile. */
const HEARD_MS = 2 * STEP_MS;
/** For a response that is done but not heard: if it has audio, that has started by then. */
const TAIL_MS = 2000;

/** The response that begins next is the last one, whoever asked for it: the conversation holds the tool's answer. */
export function lastWords(call: HeldCallContext, at: number): HeldCallContext {
  if (call.ending !== null) return call;
  const untilMs = at + STEP_MS;
  return {
    ...call,
    ending: { responseId: null, isDone: false, isOver: false, beginsByMs: untilMs, heardByMs: Infinity, untilMs },
  };
}

export function lastBegun(
  call: HeldCallContext,
  { id, isInConversation }: Pick<StartedResponse, 'id' | 'isInConversation'>,
  at: number,
): HeldCallContext {
  if (call.ending === null || call.ending.responseId !== null || !isInConversation) return call;
  return withEnding(call, { responseId: id, untilMs: at + STEP_MS });
}

/** A response that the provider had begun before it heard our request came first: the last one is asked for again. */
function lastRefused(call: HeldCallContext): HeldCallContext {
  return call.ending === null
    ? call
    : withEnding(call, { responseId: null, isDone: false, untilMs: call.ending.beginsByMs });
}

export function lastDone(call: HeldCallContext, id: string, at: number): HeldCallContext {
  if (call.ending?.responseId !== id) return call;
  const untilMs = at + (call.silence.isAgentSpeaking ? STEP_MS : TAIL_MS);
  return withEnding(call, { isDone: true, heardByMs: at + HEARD_MS, untilMs });
}

/** The agent's speech starts to play, or was played to its end. If that was an earlier response, the last words are still to come. */
export function lastHeard(
  call: HeldCallContext,
  { at, who, isOn, responseId: heardId }: EventOf<'SPEECH'>,
): HeldCallContext {
  if (who !== 'agent' || call.ending?.isDone !== true) return call;
  if (isOn) return withEnding(call, { untilMs: at + STEP_MS });
  const isLast = heardId === undefined || heardId === call.ending.responseId;
  return withEnding(call, isLast ? { isOver: true } : { untilMs: at + TAIL_MS });
}

export function isEndDue({ ending }: HeldCallContext, at: number): boolean {
  return ending !== null && at >= Math.min(ending.untilMs, ending.heardByMs);
}

export function endedByClock(call: HeldCallContext, at: number): Outcome {
  return [isEndDue(call, at) ? withEnding(call, { isOver: true }) : call, []];
}

function withEnding(call: HeldCallContext, change: Partial<NonNullable<HeldCallContext['ending']>>): HeldCallContext {
  return call.ending === null ? call : { ...call, ending: { ...call.ending, ...change } };
}

// How long nobody has said anything in a call, for an agent that asks whether somebody is there.

export function withSilence(call: HeldCallContext, change: Partial<HeldCallContext['silence']>): HeldCallContext {
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
  const { askAfterMs, silence, responses } = call;
  if (askAfterMs === null || silence.sinceMs === null || silence.isAsked || at - silence.sinceMs < askAfterMs)
    return false;
  const isSpeaking = silence.isVisitorSpeaking || silence.isAgentSpeaking || !isQuiet(responses);
  // A response is on its way, or follows a tool's answer.
  const isAnswering = isAwaited(responses) || silence.isToolCalled;
  return isHeardOpen(call) && !isSpeaking && !isAnswering;
}

export function askedWhoIsThere(call: HeldCallContext, at: number): Outcome {
  return isTooSilent(call, at) ? [withSilence(call, { isAsked: true }), [{ type: 'askWhoIsThere' }]] : [call, []];
}
