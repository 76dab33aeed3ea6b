import type { Ending } from './conversation-facts.ts';
import type { EventOf, HeldCallContext, Outcome, StartedResponse } from './types.ts';

// A tool has asked for the end of the session: the agent answers once more, is heard to the end, and then the call is closed.

/** So long each step may take: that the provider begins the response, that it is done, that it was played. */
const STEP_MS = 60_000;
/** So long after the last response is done nobody waits any more, whatever else the agent is heard to say meanwhile. */
const HEARD_MS = 2 * STEP_MS;
/** Of a response that is done and of which nothing is heard: audio that is to come has begun by then. */
const TAIL_MS = 2000;

/** The response that begins next is the last one, whoever has asked for it: the conversation holds what the tool has answered. */
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

/** One that the provider began before it had heard us was first: the last one is asked for again. */
export function lastRefused(call: HeldCallContext): HeldCallContext {
  return call.ending === null
    ? call
    : withEnding(call, { responseId: null, isDone: false, untilMs: call.ending.beginsByMs });
}

export function lastDone(call: HeldCallContext, id: string, at: number): HeldCallContext {
  if (call.ending?.responseId !== id) return call;
  const untilMs = at + (call.silence.isAgentSpeaking ? STEP_MS : TAIL_MS);
  return withEnding(call, { isDone: true, heardByMs: at + HEARD_MS, untilMs });
}

/** What the agent says begins to be played, or was played to its end: of what it had said before the last words are still to come. */
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

function withEnding(call: HeldCallContext, change: Partial<Ending>): HeldCallContext {
  return call.ending === null ? call : { ...call, ending: { ...call.ending, ...change } };
}
