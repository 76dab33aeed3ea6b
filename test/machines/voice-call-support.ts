import * as fc from 'fast-check';
import { createActor, type Actor, type AnyStateMachine } from 'xstate';
import { CLOSE_REASONS } from '../../machines/voice-call/close-reasons.ts';
import { createVoiceCallMachine } from '../../machines/voice-call/machine.ts';
import type { CallEvent, CallFact, CallLimits, CallRecord, CloseRequest } from '../../machines/voice-call/types.ts';

export const SECOND = 1000;
/** When the provider ends the calls in these tests. */
export const PROVIDER_ENDS = 3600 * SECOND;
export const GIVE_UP = 15 * SECOND;
export const limits: CallLimits = { graceSec: 30, unheardSec: 20 };

export const create: CallEvent = {
  type: 'CREATE',
  at: 0,
  terms: {
    id: 'call_1',
    sessionId: 's:1',
    subject: '1',
    tenantId: 'acme',
    keyId: 'site',
    provider: 'fake',
    fingerprint: 'one',
    model: 'echo',
  },
  node: 'one',
  giveUpAtMs: GIVE_UP,
};

export const created = (at: number): CallEvent => ({
  type: 'CREATED',
  at,
  providerCallId: 'rtc_1',
  providerEndsAtMs: PROVIDER_ENDS,
});
export const createFailed = (at: number): CallEvent => ({ type: 'CREATE_FAILED', at });
export const ready = (at: number): CallEvent => ({ type: 'READY', at });
export const lost = (at: number): CallEvent => ({ type: 'SIDEBAND_LOST', at });
export const close = (at: number, reason: CloseRequest = 'session_ended'): CallEvent => ({ type: 'CLOSE', at, reason });
type Answered = Extract<CallEvent, { type: 'HANGUP_ANSWERED' }>;
export const answered = (
  at: number,
  answer: Answered['answer'],
  more: Pick<Answered, 'isLeft' | 'dialled'> = {},
): CallEvent => ({ type: 'HANGUP_ANSWERED', at, answer, ...more });
/** @param isLeft whether the provider has closed the sideband too, which is the default */
export const over = (
  at: number,
  reason: 'expired' | 'remote' | 'content' | 'lost' = 'remote',
  isLeft = true,
): CallEvent => ({ type: 'OVER', at, reason, isLeft });
export const heard = (at: number): CallEvent => ({ type: 'HEARD', at });
/** @param isForeign whether the taker lacks the credential to ask for the call */
export const taken = (at: number, node = 'two', unheardSinceMs = at, isForeign = false): CallEvent => ({
  type: 'TAKEN',
  at,
  node,
  unheardSinceMs,
  isForeign,
});
export const wrappedUp = (at: number): CallEvent => ({ type: 'WRAPPED_UP', at });
export const awaited = (at: number, untilMs = at + 90 * SECOND): CallEvent => ({ type: 'AWAITED', at, untilMs });
export const clock = (at: number): CallEvent => ({ type: 'CLOCK', at });

function follow(actor: Actor<AnyStateMachine>) {
  const facts: CallFact[] = [];
  actor.on('*', (fact) => facts.push(fact as unknown as CallFact));
  actor.start();
  return {
    facts,
    send: (event: CallEvent): void => actor.send(event),
    record: (): CallRecord => actor.getSnapshot().context as CallRecord,
    state: (): string => actor.getSnapshot().value as string,
  };
}

/** One machine for each set of limits: creating one takes longer than a sequence of events. */
const machines = new WeakMap<CallLimits, AnyStateMachine>();

function machineOf(under: CallLimits): AnyStateMachine {
  const machine: AnyStateMachine = machines.get(under) ?? createVoiceCallMachine(under);
  machines.set(under, machine);
  return machine;
}

export function fresh(under = limits): CallRecord {
  const actor = follow(createActor(machineOf(under)));
  actor.send(create);
  return actor.record();
}

/** An actor as the host activates it from a record, and the facts that it emits. */
export function activate(record: CallRecord, under = limits) {
  const machine = machineOf(under);
  return follow(createActor(machine, { snapshot: machine.resolveState({ value: record.state, context: record }) }));
}

export function play(record: CallRecord, events: readonly CallEvent[], under = limits) {
  const actor = activate(record, under);
  for (const event of events) actor.send(event);
  return { state: actor.state(), record: actor.record(), facts: actor.facts };
}

/** A call that has been open since second 2. */
export function opened(under = limits): CallRecord {
  return play(fresh(under), [created(SECOND), ready(2 * SECOND)], under).record;
}

const requests = Object.entries(CLOSE_REASONS).flatMap(([reason, { causedBy }]) =>
  causedBy === 'request' ? [reason as CloseRequest] : [],
);

const anyKind: fc.Arbitrary<(at: number) => CallEvent> = fc.oneof(
  fc.constantFrom(created, createFailed, ready, lost, heard, wrappedUp, awaited, clock),
  fc.constantFrom(...requests).map((reason) => (at: number) => close(at, reason)),
  fc
    .tuple(
      fc.constantFrom('asked' as const, 'already_over' as const, 'failed' as const),
      fc.boolean(),
      fc.constantFrom('known' as const, 'unknown' as const, undefined),
    )
    .map(
      ([a, isLeft, dialled]) =>
        (at: number) =>
          answered(at, a, { isLeft, dialled }),
    ),
  fc
    .tuple(fc.constantFrom('expired' as const, 'remote' as const, 'content' as const, 'lost' as const), fc.boolean())
    .map(
      ([reason, isLeft]) =>
        (at: number) =>
          over(at, reason, isLeft),
    ),
  fc.tuple(fc.constantFrom('two', 'three'), fc.boolean()).map(
    ([node, isForeign]) =>
      (at: number) =>
        taken(at, node, at - 10 * SECOND, isForeign),
  ),
);

/** Any events, at times that may run back a little, as the clocks of nodes do. */
export const anyEvents: fc.Arbitrary<readonly CallEvent[]> = fc
  .array(
    fc.tuple(anyKind, fc.oneof(fc.integer({ min: -2 * SECOND, max: 40 * SECOND }), fc.constant(2 * PROVIDER_ENDS))),
    {
      maxLength: 25,
    },
  )
  .map((steps) => {
    let at = SECOND;
    return steps.map(([make, delta]) => {
      at = Math.max(0, at + delta);
      return make(at);
    });
  });

/** Each limit both switched off and set. */
export const anyLimits: fc.Arbitrary<CallLimits> = fc.constantFrom(
  ...[0, 30].flatMap((graceSec) => [0, 20].map((unheardSec) => ({ graceSec, unheardSec }))),
);
