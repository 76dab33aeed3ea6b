import type { Ending } from './conversation-facts.ts';
import type { EventOf, HeldCallContext, Outcome, StartedResponse } from './types.ts';

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

function withEnding(call: HeldCallContext, change: Partial<Ending>): HeldCallContext {
  return call.ending === null ? call : { ...call, ending: { ...call.ending, ...change } };
}
