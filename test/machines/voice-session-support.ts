import * as fc from 'fast-check';
import { createActor, type Actor, type AnyStateMachine, type StateValue } from 'xstate';
import { END_REASONS } from '../../machines/voice-session/end-reasons.ts';
import { createVoiceSessionMachine } from '../../machines/voice-session/machine.ts';
import { stateValue } from '../../machines/voice-session/selectors.ts';
import type {
  RequestedEnd,
  VoiceEvent,
  VoiceFact,
  VoiceLimits,
  VoiceRecord,
  VoiceState,
  VoiceTerms,
} from '../../machines/voice-session/types.ts';

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;

/** The defaults (docs/contract.md, section 10.3). */
export const defaults: VoiceLimits = { maxMinutes: 15, maxIdleSec: 300, staleGraceSec: 3600, staleReapSec: 3600 };

export const terms: VoiceTerms = {
  id: `s:${'0'.repeat(32)}:${'A'.repeat(22)}`,
  subject: '0'.repeat(32),
  caller: 'widget',
  tenantId: 'acme',
  agentId: null,
  keyId: 'site',
  named: false,
  loginId: null,
  provider: 'local',
  upstreamId: 'sess_1',
  isHeard: false,
};

export const open = (at: number, wordsWithinSec?: number): VoiceEvent => ({ type: 'OPEN', at, terms, wordsWithinSec });
export const heartbeat = (at: number, idleSec?: number): VoiceEvent => ({ type: 'HEARTBEAT', at, idleSec });
export const activity = (at: number): VoiceEvent => ({ type: 'ACTIVITY', at });
/** A call of the session is heard for `ms`. */
export const heard = (at: number, ms: number): VoiceEvent => ({ type: 'HEARD', at, untilMs: at + ms });
/** The visitor is heard to say something. */
export const spoke = (at: number): VoiceEvent => ({ type: 'SPOKE', at });
export const clock = (at: number): VoiceEvent => ({ type: 'CLOCK', at });
export const end = (at: number, reason: RequestedEnd = 'closed_by_client'): VoiceEvent => ({ type: 'END', at, reason });

/** The flat name of a state in the hierarchy, which is the name of its leaf. */
export function leafOf(value: StateValue): string {
  return typeof value === 'string' ? value : leafOf(Object.values(value)[0] ?? '');
}

function follow(actor: Actor<AnyStateMachine>) {
  const facts: VoiceFact[] = [];
  actor.on('*', (fact) => facts.push(fact as unknown as VoiceFact));
  actor.start();
  return {
    facts,
    record: (): VoiceRecord => actor.getSnapshot().context as VoiceRecord,
    state: (): VoiceState => leafOf(actor.getSnapshot().value as StateValue) as VoiceState,
    /** Sends as the host does: nothing to an actor that is done. */
    send(event: VoiceEvent): void {
      if (actor.getSnapshot().status === 'active') actor.send(event);
    },
  };
}

/** One machine for each set of limits: creating one takes longer than an event. */
const machines = new WeakMap<VoiceLimits, AnyStateMachine>();

function machineOf(limits: VoiceLimits): AnyStateMachine {
  const machine = machines.get(limits) ?? createVoiceSessionMachine(limits);
  machines.set(limits, machine);
  return machine;
}

/** A session that has just been opened. */
export function opened(at = 0, wordsWithinSec?: number): VoiceRecord {
  const actor = follow(createActor(machineOf(defaults)));
  actor.send(open(at, wordsWithinSec));
  return actor.record();
}

/** An actor as the host activates it from a record, and the facts that it emits. */
export function activate(record: VoiceRecord, limits: VoiceLimits) {
  const machine = machineOf(limits);
  return follow(
    createActor(machine, { snapshot: machine.resolveState({ value: stateValue(record, limits), context: record }) }),
  );
}

/** The record after some events, and the facts that they caused. */
export function play(record: VoiceRecord, limits: VoiceLimits, events: readonly VoiceEvent[]) {
  const actor = activate(record, limits);
  for (const event of events) actor.send(event);
  return { state: actor.state(), record: actor.record(), facts: actor.facts };
}

/** The last live record of a new session to which the events are sent: the one before its end. */
export function lastLive(limits: VoiceLimits, events: readonly VoiceEvent[], wordsWithinSec?: number): VoiceRecord {
  const actor = activate(opened(0, wordsWithinSec), limits);
  let record = actor.record();
  for (const event of events) {
    actor.send(event);
    if (actor.record().endedAtMs === null) record = actor.record();
  }
  return record;
}

/** Small limits, so that few events meet many boundaries; `staleGraceSec` is never below `maxIdleSec`, as the settings require. */
export const anyLimits: fc.Arbitrary<VoiceLimits> = fc
  .record({
    maxMinutes: fc.integer({ min: 1, max: 3 }),
    maxIdleSec: fc.integer({ min: 1, max: 120 }),
    graceBeyondIdleSec: fc.integer({ min: 0, max: 120 }),
    staleReapSec: fc.integer({ min: 0, max: 60 }),
  })
  .map(({ graceBeyondIdleSec, ...limits }) => ({ ...limits, staleGraceSec: limits.maxIdleSec + graceBeyondIdleSec }));

/** Within how many seconds the visitor must speak; undefined for sessions without that rule, which are most. */
export const anyWords: fc.Arbitrary<number | undefined> = fc.option(fc.integer({ min: 10, max: 240 }), {
  nil: undefined,
});

/** Every reason that an END event may have. */
export const requestedEnds: readonly RequestedEnd[] = Object.entries(END_REASONS).flatMap(([reason, { causedBy }]) =>
  causedBy === 'request' ? [reason as RequestedEnd] : [],
);

const reason = fc.constantFrom(...requestedEnds);

/** How far time moves between events: mostly forwards, sometimes by whole seconds, sometimes back a little. */
const step = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: 0, max: 90 * SECOND }) },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 120 }).map((seconds) => seconds * SECOND) },
  { weight: 1, arbitrary: fc.integer({ min: -2 * SECOND, max: 0 }) },
);

type Timeless = {
  readonly type: Exclude<VoiceEvent['type'], 'OPEN'>;
  readonly idleSec?: number | undefined;
  readonly heardMs: number;
  readonly reason: RequestedEnd;
};

const kind: fc.Arbitrary<Timeless> = fc.record({
  type: fc.oneof(
    { weight: 6, arbitrary: fc.constant('HEARTBEAT' as const) },
    { weight: 2, arbitrary: fc.constant('ACTIVITY' as const) },
    { weight: 2, arbitrary: fc.constant('HEARD' as const) },
    { weight: 1, arbitrary: fc.constant('SPOKE' as const) },
    { weight: 3, arbitrary: fc.constant('CLOCK' as const) },
    { weight: 1, arbitrary: fc.constant('END' as const) },
  ),
  idleSec: fc.oneof(fc.constant(undefined), fc.integer({ min: 0, max: 150 }), fc.constant(Number.MAX_SAFE_INTEGER)),
  heardMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 90 * SECOND })),
  reason,
});

/** Sequences of events with their times. */
export const anyEvents: fc.Arbitrary<VoiceEvent[]> = fc.array(fc.tuple(step, kind), { maxLength: 25 }).map((steps) => {
  let at = 0;
  return steps.map(([ms, { type, idleSec, heardMs, reason }]) => {
    at = Math.max(0, at + ms);
    if (type === 'HEARTBEAT') return heartbeat(at, idleSec);
    if (type === 'HEARD') return heard(at, heardMs);
    return type === 'END' ? end(at, reason) : { type, at };
  });
});
