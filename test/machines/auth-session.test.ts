import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createActor, type Actor, type AnyStateMachine } from 'xstate';
import { createAuthSessionMachine } from '../../machines/auth-session/machine.ts';
import { classify, isRenewalDue } from '../../machines/auth-session/selectors.ts';
import type { AuthEvent, AuthFact, AuthLimits, AuthRecord, AuthState } from '../../machines/auth-session/types.ts';
import { examples } from '../support/examples.ts';

const HOUR = 3_600_000;
const MINUTE = 60_000;
const daily: AuthLimits = { expiryHours: 24, absoluteHours: 0 };

const open = (at: number): AuthEvent => ({ type: 'OPEN', at, id: 'auth_1', email: 'ada@example.com' });

function follow(actor: Actor<AnyStateMachine>) {
  const facts: AuthFact[] = [];
  actor.on('*', (fact) => facts.push(fact as unknown as AuthFact));
  actor.start();
  /** Sends as the host does: nothing to an actor that is done. */
  function send(event: AuthEvent): void {
    if (actor.getSnapshot().status === 'active') actor.send(event);
  }
  return { actor, send, facts };
}

/** One machine for each set of limits: creating one takes longer than a sequence of events. */
const machines = new WeakMap<AuthLimits, AnyStateMachine>();

function machineOf(limits: AuthLimits): AnyStateMachine {
  const machine: AnyStateMachine = machines.get(limits) ?? createAuthSessionMachine(limits);
  machines.set(limits, machine);
  return machine;
}

/** A login that has just been opened. */
function opened(limits: AuthLimits, at = 0): AuthRecord {
  const { actor, send } = follow(createActor(machineOf(limits)));
  send(open(at));
  return actor.getSnapshot().context as AuthRecord;
}

/** An actor as the host activates it from a record, and the facts that it emits. */
function activate(record: AuthRecord, limits: AuthLimits) {
  const machine = machineOf(limits);
  const value = record.destroyedAtMs === null ? 'active' : 'destroyed';
  return follow(createActor(machine, { snapshot: machine.resolveState({ value, context: record }) }));
}

function play(record: AuthRecord, limits: AuthLimits, events: readonly AuthEvent[]) {
  const { actor, send, facts } = activate(record, limits);
  for (const event of events) send(event);
  const { value, context } = actor.getSnapshot();
  return { state: value as AuthState, record: context as AuthRecord, facts };
}

const activity = (at: number): AuthEvent => ({ type: 'ACTIVITY', at });
const clock = (at: number): AuthEvent => ({ type: 'CLOCK', at });
const logout = (at: number): AuthEvent => ({ type: 'DESTROY', at, reason: 'logout' });
const revoke = (at: number): AuthEvent => ({ type: 'DESTROY', at, reason: 'revoked' });

describe('A login', () => {
  const end = 24 * HOUR;

  test('is opened as active with its e-mail address, for its sliding life', () => {
    expect(opened(daily, 5)).toEqual({
      id: 'auth_1',
      email: 'ada@example.com',
      createdAtMs: 5,
      renewedAtMs: 5,
      expiresAtMs: 5 + end,
      destroyedAtMs: null,
      destroyReason: null,
      version: 1,
    });
  });

  test('is opened once', () => {
    const { record } = play(opened(daily), daily, [activity(MINUTE)]);
    expect(play(record, daily, [open(2 * MINUTE)])).toEqual({ state: 'active', record, facts: [] });
  });

  const rows: [string, AuthEvent[], AuthState, Partial<AuthRecord>, string[]][] = [
    ['is not extended within its first minute', [activity(MINUTE - 1)], 'active', { expiresAtMs: end, version: 1 }, []],
    [
      'is extended by activity from a minute on',
      [activity(MINUTE)],
      'active',
      { renewedAtMs: MINUTE, expiresAtMs: end + MINUTE },
      ['login.renewed'],
    ],
    [
      'is extended at most once a minute',
      [activity(MINUTE), activity(2 * MINUTE - 1), activity(2 * MINUTE)],
      'active',
      { renewedAtMs: 2 * MINUTE, version: 3 },
      ['login.renewed', 'login.renewed'],
    ],
    ['is extended by activity in its last millisecond', [activity(end - 1)], 'active', {}, ['login.renewed']],
    [
      'is over from the instant of its expiry on',
      [activity(end)],
      'destroyed',
      { destroyedAtMs: end, destroyReason: 'expired' },
      ['login.destroyed'],
    ],
    ['expires by the clock', [clock(end + 5)], 'destroyed', { destroyedAtMs: end }, ['login.destroyed']],
    ['does not mind an early clock', [clock(end - 1)], 'active', { version: 1 }, []],
    [
      'ends with a logout',
      [logout(5)],
      'destroyed',
      { destroyedAtMs: 5, destroyReason: 'logout' },
      ['login.destroyed'],
    ],
    [
      'ends once, with the first reason',
      [logout(5), revoke(6)],
      'destroyed',
      { destroyReason: 'logout' },
      ['login.destroyed'],
    ],
    [
      'that expired cannot be revoked any more',
      [revoke(end)],
      'destroyed',
      { destroyReason: 'expired' },
      ['login.destroyed'],
    ],
    [
      'that is over is not extended',
      [logout(5), activity(2 * MINUTE)],
      'destroyed',
      { expiresAtMs: end },
      ['login.destroyed'],
    ],
  ];

  test.each(rows)('%s', (_title, events, state, fields, facts) => {
    const result = play(opened(daily), daily, events);
    expect(result.state).toBe(state);
    expect(result.record).toMatchObject(fields);
    expect(result.facts.map(({ type }) => type)).toEqual(facts);
  });

  test('emits why it ended', () => {
    expect(play(opened(daily), daily, [revoke(5)]).facts).toEqual([{ type: 'login.destroyed', reason: 'revoked' }]);
  });

  test('is extended up to its absolute limit and not beyond', () => {
    const capped = { expiryHours: 24, absoluteHours: 30 };
    const { record, facts } = play(opened(capped), capped, [
      activity(10 * HOUR),
      activity(20 * HOUR),
      activity(29 * HOUR),
    ]);
    expect(record.expiresAtMs).toBe(30 * HOUR);
    expect(facts).toHaveLength(1);
    expect(play(record, capped, [activity(30 * HOUR)]).state).toBe('destroyed');
  });

  test('that is used every day ends after its absolute life, to the millisecond', () => {
    const monthly = { expiryHours: 24, absoluteHours: 720 };
    const uses = Array.from({ length: 60 }, (_, n) => activity((n + 1) * 12 * HOUR - 1));
    const { state, record } = play(opened(monthly), monthly, uses);
    expect([state, record.expiresAtMs]).toEqual(['active', 720 * HOUR]);
    for (const at of [720 * HOUR - 1, 720 * HOUR])
      expect(play(record, monthly, [clock(at)]).state).toBe(classify(record, at));
    expect(classify(record, 720 * HOUR)).toBe('destroyed');
  });

  test('with an absolute limit below its sliding life ends at that limit', () => {
    const capped = { expiryHours: 24, absoluteHours: 2 };
    expect(opened(capped).expiresAtMs).toBe(2 * HOUR);
    expect(isRenewalDue(opened(capped), HOUR, capped)).toBe(false);
  });
});

describe('For every sequence of events and times', () => {
  const limits = fc.constantFrom(
    ...[1, 2, 3, 4].flatMap((expiryHours) =>
      [0, 1, 2, 3, 4, 5, 6].map((absoluteHours) => ({ expiryHours, absoluteHours })),
    ),
  );
  const times = fc.integer({ min: 0, max: 10 * HOUR });
  const reason = fc.constantFrom('logout', 'violation', 'revoked', 'replaced');
  const event: fc.Arbitrary<AuthEvent> = fc.oneof(
    { weight: 6, arbitrary: fc.record({ type: fc.constant('ACTIVITY'), at: times }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('DESTROY'), at: times, reason }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('CLOCK'), at: times }) },
  );
  const events = fc.array(event, { maxLength: 20 });

  test('the machine is in the state that follows from record and time', () => {
    const holds = fc.property(limits, events, (limits, sequence) => {
      const { actor, send } = activate(opened(limits), limits);
      for (const event of sequence) {
        send(event);
        const { value, context } = actor.getSnapshot();
        expect(value).toBe(classify(context as AuthRecord, event.at));
      }
    });
    fc.assert(holds, examples(200));
  });

  test('an actor that is activated anew from its record for each event behaves like one that stays alive', () => {
    const holds = fc.property(limits, events, (limits, sequence) => {
      let present = opened(limits);
      const facts: AuthFact[] = [];
      for (const event of sequence) {
        const step = play(present, limits, [event]);
        present = step.record;
        facts.push(...step.facts);
      }
      const whole = play(opened(limits), limits, sequence);
      expect([present, facts]).toEqual([whole.record, whole.facts]);
    });
    fc.assert(holds, examples(200));
  });

  test('it never outlives its limits, never gets shorter, and ends at most once', () => {
    const holds = fc.property(limits, events, (limits, sequence) => {
      let present = opened(limits);
      let ends = 0;
      for (const event of sequence) {
        const { record, facts } = play(present, limits, [event]);
        expect(record.expiresAtMs).toBeGreaterThanOrEqual(present.expiresAtMs);
        expect(record.expiresAtMs).toBeLessThanOrEqual(
          Math.max(present.expiresAtMs, event.at + limits.expiryHours * HOUR),
        );
        const capMs = limits.absoluteHours === 0 ? Infinity : limits.absoluteHours * HOUR;
        expect(record.expiresAtMs).toBeLessThanOrEqual(capMs);
        const sinceRenewalMs = facts[0]?.type === 'login.renewed' ? record.renewedAtMs - present.renewedAtMs : Infinity;
        expect(sinceRenewalMs).toBeGreaterThanOrEqual(MINUTE);
        expect(record.version - present.version).toBe(facts.length);
        ends += facts.filter(({ type }) => type === 'login.destroyed').length;
        present = record;
      }
      expect(ends).toBeLessThanOrEqual(1);
    });
    fc.assert(holds, examples(200));
  });

  test('activity has an effect exactly when the selector says that a renewal is due or the login has expired', () => {
    const holds = fc.property(limits, events, times, (limits, sequence, at) => {
      const { record } = play(opened(limits), limits, sequence);
      const changes = play(record, limits, [activity(at)]).facts.length === 1;
      const isOpen = record.destroyedAtMs === null;
      expect(changes).toBe(isOpen && (at >= record.expiresAtMs || isRenewalDue(record, at, limits)));
    });
    fc.assert(holds, examples(200));
  });
});
