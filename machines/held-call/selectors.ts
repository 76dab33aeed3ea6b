import type { StateValue } from 'xstate';
import { isEndDue } from './ending.ts';
import { heardOf, isOverdue, kindOf, started, withItem, withUsage, worstCasesOf, type WorstCase } from './responses.ts';
import { nextStep } from './saving.ts';
import { isTooSilent, spoken, withSilence, written } from './silence.ts';
import { restored, toolCalled } from './strikes.ts';
import type { HeldCallContext, HeldCallEvent, StartedResponse, Strikes } from './types.ts';

/** A sideband that is dialled again sooner hides no conversation. */
const HIDDEN_MS = 5000;

/** The states of the machine as it nests them, while the call is held. */
export interface HeldStates {
  readonly sideband: 'undialled' | 'dialling' | 'heard' | 'lost' | 'dropped' | 'closed';
  readonly record: 'saved' | 'saving' | 'behind';
  readonly end: 'none' | 'wanted' | 'asking';
  readonly responses: 'quiet' | 'running' | 'cancelling';
}

/** Undefined once the call is over, or another node's. */
export function heldStates(value: StateValue): HeldStates | undefined {
  return typeof value === 'string' ? undefined : (value['held'] as unknown as HeldStates | undefined);
}

/** Since when nobody heard a call that is open; null where somebody does. */
function silentSinceMs({ record, sideband, needsSideband }: HeldCallContext): number | null {
  if (record.state !== 'open' || !needsSideband || sideband.heardAtMs !== null) return null;
  return record.unheardSinceMs ?? sideband.lostAtMs;
}

/**
 * Whether nobody hears an open call for so long that none can say it is silent: its session does not go idle for that
 * (docs/contract.md, section 5.3).
 */
export function mayHaveSpoken(call: HeldCallContext, at: number): boolean {
  const sinceMs = silentSinceMs(call);
  return sinceMs !== null && call.end.said === null && call.end.wanted === null && at - sinceMs >= HIDDEN_MS;
}

/** Whether a lost sideband is dialled again: once its record says that it was lost, and knows all else. */
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

/** How many responses run; undefined while nobody hears the call, and where another node that held it may have left some. */
export function runningResponses({ responses, sideband }: HeldCallContext): number | undefined {
  return sideband.heardAtMs === null || responses.inherited > 0 ? undefined : responses.open.length;
}

/** What all responses may come to with one that begins, where what is left has to pay for it; undefined where it has not. */
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
  event: Extract<HeldCallEvent, { readonly type: T }>,
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
 * The fast path beside the machine: the call after an event that moves no state and asks for nothing, without the machine, or undefined
 * where it must decide. A property test proves that it answers as the machine does: whoever changes what these events do in the machine
 * changes it here as well.
 */
export function fastPath(states: HeldStates, call: HeldCallContext, event: HeldCallEvent): HeldCallContext | undefined {
  return fast[event.type]?.(call, event as never, states);
}

/** Whether a look at the clock finds nothing to do. */
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
