import { describe, expect, test } from 'vitest';
import { createVoiceCallMachine } from '../../machines/voice-call/machine.ts';
import { createVoiceSessionMachine } from '../../machines/voice-session/machine.ts';
import { otpChallengeMachine } from '../../machines/otp-challenge/machine.ts';
import { createAuthSessionMachine } from '../../machines/auth-session/machine.ts';
import { Tracer, type TracedEvent } from '../../src/actors/trace.ts';
import { hostOn, LampStore, type Event, type Lamp } from './lamp.ts';

const voiceSession = createVoiceSessionMachine({
  maxMinutes: 15,
  maxIdleSec: 300,
  staleGraceSec: 900,
  staleReapSec: 60,
});

function follow(store: LampStore): { host: ReturnType<typeof hostOn>; told: TracedEvent<Lamp>[] } {
  const told: TracedEvent<Lamp>[] = [];
  return { host: hostOn(store, { trace: (traced) => told.push(traced) }), told };
}

describe('A tracer', () => {
  // XState does not promise the data that this reads (docs/decisions/0018): the test fails if an update removes it.
  test('reports each transition of a machine with its event and guard, and every guard that was checked', () => {
    const tracer = new Tracer(voiceSession);
    const actor = tracer.create();
    actor.start();
    actor.send({ type: 'OPEN', at: 0, terms: {} });
    actor.send({ type: 'HEARTBEAT', at: 400_000 });
    expect(tracer.told.steps).toEqual([
      { event: 'OPEN', from: 'unopened', to: 'live', guard: null, actions: ['open'] },
      {
        event: 'HEARTBEAT',
        from: 'live',
        to: 'live',
        guard: 'isAfterDeadline',
        actions: ['followClock', 'meetAgain'],
      },
      { event: '', from: 'live.engaged', to: 'live.dormant', guard: 'hasGoneIdle', actions: [] },
      {
        event: 'HEARTBEAT',
        from: 'live.dormant',
        to: 'ended',
        guard: 'isBeforeDeadline',
        actions: ['endAsIdle'],
      },
    ]);
    expect(tracer.told.guards.slice(2)).toEqual([
      { name: 'isBeforeDeadline', passed: false },
      { name: 'isAfterDeadline', passed: true },
      { name: 'isPastDuration', passed: false },
      { name: 'hasGoneIdle', passed: true },
      { name: 'hasGoneStale', passed: false },
      { name: 'isBeforeDeadline', passed: true },
    ]);
  });

  test('starts anew with each actor', () => {
    const tracer = new Tracer(voiceSession);
    for (let n = 0; n < 2; n += 1) {
      const actor = tracer.create();
      actor.start();
      actor.send({ type: 'OPEN', at: 0, terms: {} });
      expect(tracer.told.steps).toHaveLength(1);
    }
  });

  test.each([
    ['voice-session', voiceSession],
    ['voice-call', createVoiceCallMachine({ graceSec: 30, unheardSec: 30 })],
    ['otp-challenge', otpChallengeMachine],
    ['auth-session', createAuthSessionMachine({ expiryHours: 1, absoluteHours: 0 })],
  ])('can name every guard of %s, because none is composed of others or without a name', (_, machine) => {
    const guards = [machine.root, ...Object.values(machine.states)].flatMap((state) => guardsOf(state.config));
    const named = Object.keys(machine.implementations.guards);
    expect(guards.length).toBeGreaterThan(0);
    expect(guards.filter((guard) => typeof guard !== 'string' || !named.includes(guard))).toEqual([]);
  });
});

describe('What a host reports about its actors', () => {
  test('contains the event, the record before and after it, and the states', async () => {
    const store = new LampStore();
    store.put('a');
    const { host, told } = follow(store);
    host.open({ type: 'MOUNT', id: 'new' });
    await host.send('a', { type: 'PULL' });
    expect(told).toMatchObject([
      { machine: 'lamp', event: 'MOUNT', from: undefined, to: 'off', before: undefined, record: { id: 'new' } },
      { event: 'PULL', from: 'off', to: 'on', isFinal: false, before: { version: 1 }, record: { version: 2 } },
    ]);
    expect(told[1]?.steps).toEqual([
      { event: 'PULL', from: 'off', to: 'on', guard: null, actions: ['pull', 'tellOn'] },
    ]);
  });

  test('is, for an actor opened without the machine, what the machine would report', () => {
    const fastOpen = (event: Event) =>
      event.type === 'MOUNT' ? { id: event.id, version: 1, isOn: false, pulls: 0 } : undefined;
    const fast: TracedEvent<Lamp>[] = [];
    const store = new LampStore();
    const host = hostOn(store, { fastOpen, trace: (traced) => fast.push(traced) });
    const { host: slow, told } = follow(store);
    for (const id of ['a', 'b', 'c'])
      expect(host.open({ type: 'MOUNT', id })).toEqual(slow.open({ type: 'MOUNT', id }));
    expect(fast).toEqual(told);
    expect(() => host.open({ type: 'PULL' })).toThrow('PULL opens nothing in lamp');
  });

  test('comes once for an event that had to be retried, as it was saved', async () => {
    const store = new LampStore();
    store.put('a');
    let conflicts = 1;
    store.beforeSave = () => {
      if (conflicts > 0) store.put('a', { version: 5, isOn: true });
      conflicts -= 1;
    };
    const { host, told } = follow(store);
    await host.send('a', { type: 'PULL' });
    expect(told).toMatchObject([{ from: 'on', to: 'off', before: { version: 5 } }]);
  });

  test('does not come for an event that changed nothing', async () => {
    const store = new LampStore();
    store.put('a');
    const { host, told } = follow(store);
    await host.send('a', { type: 'LOOK' });
    expect(told).toEqual([]);
  });
});

/** All guards of a state and of the states within it. */
function guardsOf(config: object): unknown[] {
  return Object.entries(config).flatMap(([name, value]: [string, unknown]) => {
    if (name === 'guard') return [value];
    return typeof value === 'object' && value !== null ? guardsOf(value) : [];
  });
}
