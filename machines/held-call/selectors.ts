import type { StateValue } from 'xstate';
import { isEndDue, isTooSilent, spoken, withSilence, written } from './conversation.ts';
import { heardOf, isOverdue, kindOf, started, withItem, withUsage, worstCasesOf, type WorstCase } from './responses.ts';
import { nextStep } from './rules.ts';
import { restored, toolCalled, type Strikes } from './strikes.ts';
import type { EventOf, HeldCallContext, HeldCallEvent, StartedResponse } from './types.ts';

/** If the sideband is dialled again sooner than this, no conversation goes unnoticed. */
const HIDDEN_MS = 5000;

/** The states of the machine, nested as in the machine, while the call is held. */
export interface HeldStates {
  readonly sideband: 'undialled' | 'dialling' | 'heard' | 'lost' | 'dropped' | 'closed';
  readonly record: 'saved' | 'saving' | 'behind';
  readonly end: 'none' | 'wanted' | 'asking';
  readonly responses: 'quiet' | 'running' | 'cancelling';
}

/** Undefined once the call is over, or belongs to another node. */
export function heldStates(value: StateValue): HeldStates | undefined {
  return typeof value === 'string' ? undefined : (value['held'] as unknown as HeldStates | undefined);
}

/** Since when nobody has heard an open call; null while it is heard. */
function silentSinceMs({ record, sideband, needsSideband }: HeldCallContext): number | null {
  if (record.state !== 'open' || !needsSideband || sideband.heardAtMs !== null) return null;
  return record.unheardSinceMs ?? sideband.lostAtMs;
}

/**
 * Whether nobody has heard an open call for so long that nobody can say it is silent: then its session does not go idle (docs/contract.md, section
 * 5.3).
 */
export function mayHaveSpoken(call: HeldCallContext, at: number): boolean {
  const sinceMs = silentSinceMs(call);
  return sinceMs !== null && call.end.said === null && call.end.wanted === null && at - sinceMs >= HIDDEN_MS;
}

/** Whether to dial a lost sideband again: only once the record says that it was lost, and everything else is saved. */
export function mayDial(call: HeldCallContext, event: HeldCallEvent): boolean {
  const { record, isDiallable, sideband } = call;
  if (event.type !== 'CLOCK' && event.type !== 'SAVED') return false;
  const isDue = record.state === 'open' && record.unheardSinceMs !== null && event.at >= sideband.dialAtMs;
  return (
    isDue &&
    isDiallable &&
    event.mayHear &&
    nextStep(call, event.type === 'SAVED' ? (call.saving?.step ?? null) : null) === undefined
  );
}

/** How many responses are running; undefined while nobody hears the call, and where the previous owner may have left some. */
export function runningResponses({ responses, sideband }: HeldCallContext): number | undefined {
  return sideband.heardAtMs === null || responses.inherited > 0 ? undefined : responses.open.length;
}

/** The worst cases of all responses including a starting one, if the remaining budget has to pay for it; undefined if not. */
export function worstCasesWith(
  { responses, terms }: HeldCallContext,
  response: StartedResponse,
  at: number,
): readonly WorstCase[] | undefined {
  if (kindOf(responses, terms, response) !== 'extra') return undefined;
  return worstCasesOf(started(responses, terms, response, at), terms);
}

type Fast<T extends HeldCallEvent['type']> = (
  call: HeldCallContext,
  event: EventOf<T>,
  states: HeldStates,
) => HeldCallContext | undefined;

const fast: { readonly [T in HeldCallEvent['type']]?: Fast<T> } = {
  RESPONSE_HEARD: (call, { id, tokens, at }) =>
    call.responses.open.some((each) => each.id === id)
      ? { ...call, responses: heardOf(call.responses, call.terms, id, tokens, at)[0] }
      : undefined,
  USAGE: (call, { id, tokens }) => ({ ...call, responses: withUsage(call.responses, id, tokens) }),
  ITEM_ADDED: (call, { id, tokens }) => ({ ...call, responses: withItem(call.responses, id, tokens) }),
  CONVERSATION_IDLE: (call) => (call.responses.inherited > 0 || call.responses.wish.wanted !== null ? undefined : call),
  TOOL_CALLED: (call) => withSilence(withStrikes(call, toolCalled(call.responses.strikes)), { isToolCalled: true }),
  SPEECH: (call, event) => (call.ending === null ? spoken(call, event) : undefined),
  WORDS: (call, { at }) => written(call, at),
  CONFIG_RESTORED: (call) => withStrikes(call, restored(call.responses.strikes)),
  GRANTED: (call, { tokens }) => ({ ...call, responses: { ...call.responses, grantedTokens: tokens } }),
  RECORD: (call, { record }) => (record.version <= call.record.version ? call : undefined),
  ALIVE: (call) => (call.record.overAtMs === null ? call : undefined),
  LEASE_LOST: (call, _event, { sideband }) => (sideband === 'heard' || sideband === 'lost' ? undefined : call),
  CLOCK: (call, event, states) => (isAtRest(states, call, event) ? call : undefined),
};

/**
 * The fast path beside the machine: the call after an event that moves no state and emits no command, without running the machine; undefined where
 * the machine must decide. A property test proves that it answers as the machine does: a change of these events in the machine must be made here too.
 */
export function fastPath(states: HeldStates, call: HeldCallContext, event: HeldCallEvent): HeldCallContext | undefined {
  return fast[event.type]?.(call, event as never, states);
}

/** Whether CLOCK has nothing to do. */
function isAtRest({ sideband, record, end }: HeldStates, call: HeldCallContext, event: HeldCallEvent): boolean {
  if (end !== 'none' || record !== 'saved' || nextStep(call) !== undefined || isOverdue(call.responses, event.at))
    return false;
  if (isTooSilent(call, event.at) || isEndDue(call, event.at)) return false;
  if (sideband === 'dropped' && event.type === 'CLOCK' && event.mayHear) return false;
  return (sideband !== 'lost' && sideband !== 'dropped') || !mayDial(call, event);
}

function withStrikes(call: HeldCallContext, strikes: Strikes): HeldCallContext {
  return { ...call, responses: { ...call.responses, strikes } };
}
