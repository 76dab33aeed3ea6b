import type { ResponseWish } from './conversation-facts.ts';
import { lastRefused } from './last-answer.ts';
import type { EventOf, HeldCallContext, Responses, Outcome } from './types.ts';

// The response that we want from the agent: an answer to words or to tools, a greeting, a goodbye.

export const noWish: ResponseWish = { wanted: null, isAsked: false, isInDoubt: false };

export function withWish(responses: Responses, change: Partial<ResponseWish>): Responses {
  return { ...responses, wish: { ...responses.wish, ...change } };
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
  const { responses, record, sideband, end } = call;
  const { wanted } = responses.wish;
  const goesOn = record.state === 'open' && end.said === null && end.wanted === null;
  if (wanted === null || !goesOn || sideband.heardAtMs === null || !mayAsk(responses)) return [call, []];
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
