import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createActor, transition, type Actor, type AnyStateMachine } from 'xstate';
import { otpChallengeMachine } from '../../machines/otp-challenge/machine.ts';
import { classify, sameHash } from '../../machines/otp-challenge/selectors.ts';
import type {
  ChallengeEvent,
  ChallengeFact,
  ChallengeRecord,
  ChallengeState,
  ChallengeTerms,
} from '../../machines/otp-challenge/types.ts';
import { examples } from '../support/examples.ts';

const machine: AnyStateMachine = otpChallengeMachine;
const right = 'a'.repeat(64);
const wrong = 'b'.repeat(64);

const terms: ChallengeTerms = {
  id: 'c1',
  subject: 's1',
  asker: 'owner',
  codeHash: right,
  expiresAtMs: 601_000,
  maxAttempts: 5,
};

const issue = (at: number): ChallengeEvent => ({ type: 'ISSUE', at, terms });

function follow(actor: Actor<AnyStateMachine>) {
  const facts: ChallengeFact[] = [];
  actor.on('*', (fact) => facts.push(fact as unknown as ChallengeFact));
  actor.start();
  /** Sends as the host does: nothing to an actor that is done. */
  function send(event: ChallengeEvent): void {
    if (actor.getSnapshot().status === 'active') actor.send(event);
  }
  return { actor, send, facts };
}

function issuedBy(event: ChallengeEvent): ChallengeRecord {
  const { actor, send } = follow(createActor(machine));
  send(event);
  return actor.getSnapshot().context as ChallengeRecord;
}

/** A code that has just been issued. */
const issued = issuedBy(issue(1_000));

/** An actor as the host activates it from a record, and the facts that it emits. */
function activate(record: ChallengeRecord) {
  return follow(
    createActor(machine, { snapshot: machine.resolveState({ value: record.outcome ?? 'pending', context: record }) }),
  );
}

function play(record: ChallengeRecord, events: readonly ChallengeEvent[]) {
  const { actor, send, facts } = activate(record);
  for (const event of events) send(event);
  const { value, context } = actor.getSnapshot();
  return { state: value as ChallengeState, record: context as ChallengeRecord, facts };
}

const redeem = (codeHash: string, at = 2_000, asker = 'owner'): ChallengeEvent => ({
  type: 'REDEEM',
  at,
  codeHash,
  asker,
});
const supersede = (at = 2_000): ChallengeEvent => ({ type: 'SUPERSEDE', at });
const clock = (at: number): ChallengeEvent => ({ type: 'CLOCK', at });
const failures = (count: number) => Array.from({ length: count }, () => redeem(wrong));

describe('A code', () => {
  test('is issued with its terms and without attempts', () => {
    expect(issued).toEqual({ ...terms, issuedAtMs: 1_000, attempts: 0, outcome: null, version: 1 });
  });

  test('is issued once', () => {
    const { record } = play(issued, [redeem(wrong)]);
    expect(play(record, [issue(3_000)])).toEqual({ state: 'pending', record, facts: [] });
  });

  const rows: [title: string, events: ChallengeEvent[], state: ChallengeState, attempts: number, lastFact?: string][] =
    [
      ['that is right is verified', [redeem(right)], 'verified', 1, 'challenge.verified'],
      ['that is wrong stays pending and tells so', [redeem(wrong)], 'pending', 1, 'challenge.failed'],
      [
        'that is right at the last attempt is verified',
        [...failures(4), redeem(right)],
        'verified',
        5,
        'challenge.verified',
      ],
      ['is locked by the last wrong attempt', failures(5), 'locked', 5, 'challenge.locked'],
      ['that is right but locked stays locked', [...failures(5), redeem(right)], 'locked', 5, 'challenge.locked'],
      ['is verified only once', [redeem(right), redeem(right)], 'verified', 1, 'challenge.verified'],
      ['works until the last millisecond', [redeem(right, 600_999)], 'verified', 1, 'challenge.verified'],
      ['is worth nothing from its expiry on', [redeem(right, 601_000)], 'expired', 0, 'challenge.expired'],
      ['expires by the clock', [clock(601_000)], 'expired', 0, 'challenge.expired'],
      ['does not mind an early clock', [clock(600_999)], 'pending', 0],
      ['that is superseded is worth nothing', [supersede(), redeem(right)], 'superseded', 0, 'challenge.superseded'],
      ['that expired before it was superseded is expired', [supersede(601_000)], 'expired', 0, 'challenge.expired'],
      ['that was verified cannot be superseded', [redeem(right), supersede()], 'verified', 1, 'challenge.verified'],
    ];

  test.each(rows)('%s', (_title, events, state, attempts, lastFact) => {
    const end = play(issued, events);
    expect([end.state, end.record.outcome ?? 'pending', end.record.attempts]).toEqual([state, state, attempts]);
    expect(end.facts.at(-1)?.type).toBe(lastFact);
  });

  test('emits how many attempts are left', () => {
    expect(play(issued, failures(4)).facts).toEqual(
      [4, 3, 2, 1].map((attemptsLeft) => ({ type: 'challenge.failed', attemptsLeft })),
    );
  });

  test('reserves its last attempts for whoever requested it', () => {
    const guesses = Array.from({ length: 9 }, () => redeem(wrong, 2_000, 'stranger'));
    const tried = play(issued, guesses);
    expect([tried.state, tried.record.attempts]).toEqual(['pending', 3]);
    expect(play(tried.record, [redeem(right, 2_000, 'stranger')]).record).toEqual(tried.record);
    expect(play(tried.record, [redeem(wrong), redeem(right)]).state).toBe('verified');
  });

  test('that was requested elsewhere works here, within the attempts that are not reserved', () => {
    expect(play(issued, [redeem(right, 2_000, 'stranger')]).state).toBe('verified');
    expect(play({ ...issued, maxAttempts: 1 }, [redeem(right, 2_000, 'stranger')]).state).toBe('verified');
  });

  test('that allows one attempt is locked by a single wrong one', () => {
    expect(play({ ...issued, maxAttempts: 1 }, [redeem(wrong)]).state).toBe('locked');
  });
});

describe('For every sequence of events and times', () => {
  const times = fc.integer({ min: 0, max: 900_000 });
  const event: fc.Arbitrary<ChallengeEvent> = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        type: fc.constant('REDEEM'),
        at: times,
        codeHash: fc.constantFrom(right, wrong, wrong),
        asker: fc.constantFrom('owner', 'owner', 'stranger'),
      }),
    },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('SUPERSEDE'), at: times }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('CLOCK'), at: times }) },
  );
  const record = fc
    .record({ maxAttempts: fc.integer({ min: 1, max: 7 }), expiresAtMs: fc.integer({ min: 1, max: 900_000 }) })
    .map((fields) => ({ ...issued, ...fields }));
  const events = fc.array(event, { maxLength: 20 });

  test('the machine is in the state that follows from record and time', () => {
    const holds = fc.property(record, events, (start, sequence) => {
      const { actor, send } = activate(start);
      for (const event of sequence) {
        send(event);
        const { value, context } = actor.getSnapshot();
        expect(value).toBe(classify(context as ChallengeRecord, event.at));
      }
    });
    fc.assert(holds, examples(200));
  });

  test('an actor that is activated anew from its record for each event behaves like one that stays alive', () => {
    const holds = fc.property(record, events, (start, sequence) => {
      let present = start;
      const facts: ChallengeFact[] = [];
      for (const event of sequence) {
        const step = play(present, [event]);
        present = step.record;
        facts.push(...step.facts);
      }
      const whole = play(start, sequence);
      expect(present).toEqual(whole.record);
      expect(facts).toEqual(whole.facts);
    });
    fc.assert(holds, examples(200));
  });

  test('it is verified at most once, evaluated at most as often as allowed, and its version counts its changes', () => {
    const holds = fc.property(record, events, (start, sequence) => {
      const { facts, record: end } = play(start, sequence);
      const count = (...types: ChallengeFact['type'][]) => facts.filter(({ type }) => types.includes(type)).length;
      expect(count('challenge.verified')).toBeLessThanOrEqual(1);
      expect(count('challenge.verified', 'challenge.failed', 'challenge.locked')).toBe(end.attempts);
      expect(end.attempts).toBeLessThanOrEqual(start.maxAttempts);
      expect(end.version - start.version).toBe(facts.length);
    });
    fc.assert(holds, examples(200));
  });

  test('what is over changes no more', () => {
    const outcome = fc.constantFrom('verified', 'locked', 'expired', 'superseded');
    const holds = fc.property(record, outcome, event, (start, outcome, event) => {
      const over: ChallengeRecord = { ...start, outcome };
      const [after, actions] = transition(machine, machine.resolveState({ value: outcome, context: over }), event);
      expect([after.value, after.context, actions]).toEqual([outcome, over, []]);
    });
    fc.assert(holds);
  });
});

test('Hashes are equal only if they are entirely equal', () => {
  const text = fc.string({ maxLength: 8 });
  fc.assert(fc.property(text, text, (a, b) => sameHash(a, b) === (a === b)));
  expect(sameHash('abc', 'abcabc')).toBe(false);
  expect(sameHash('', 'a')).toBe(false);
});
