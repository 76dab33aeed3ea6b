import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createActor, type AnyStateMachine } from 'xstate';
import { webhookEndpointMachine } from '../../machines/webhook-endpoint/machine.ts';
import { classify, FAILING_MS, nextDeadline, savedState } from '../../machines/webhook-endpoint/selectors.ts';
import type {
  EndpointEvent,
  EndpointFact,
  EndpointRecord,
  EndpointState,
} from '../../machines/webhook-endpoint/types.ts';
import { examples } from '../support/examples.ts';

const machine: AnyStateMachine = webhookEndpointMachine;

function added(): EndpointRecord {
  const actor = createActor(machine).start();
  actor.send({ type: 'ADD', at: 0, id: 'wh_1' } satisfies EndpointEvent);
  return actor.getSnapshot().context as EndpointRecord;
}

interface Played {
  readonly record: EndpointRecord;
  readonly facts: readonly EndpointFact[];
}

/** The record and facts after some events, each of which has a new actor, as in the host. */
function play(first: EndpointRecord, events: readonly EndpointEvent[]): Played {
  const facts: EndpointFact[] = [];
  let record = first;
  for (const event of events) {
    const snapshot = machine.resolveState({ value: savedState(record), context: record });
    const actor = createActor(machine, { snapshot });
    actor.on('*', (fact) => facts.push(fact as EndpointFact));
    actor.start();
    actor.send(event);
    const after = actor.getSnapshot();
    record = after.context as EndpointRecord;
    expect(after.value).toBe(record.state);
  }
  return { record, facts };
}

const delivered = (at = 0): EndpointEvent => ({ type: 'DELIVERED', at });
const failed = (at = 0): EndpointEvent => ({ type: 'FAILED', at });
const gone = (at = 0): EndpointEvent => ({ type: 'GONE', at });
const probe = (at: number): EndpointEvent => ({ type: 'PROBE', at, untilMs: at + 30_000 });
const disable = (at = 0): EndpointEvent => ({ type: 'DISABLE', at });
const enable = (at = 0): EndpointEvent => ({ type: 'ENABLE', at });
const clock = (at: number): EndpointEvent => ({ type: 'CLOCK', at });
const five = Array.from({ length: 5 }, () => failed());

type Row = [title: string, events: EndpointEvent[], state: EndpointState, rest: object, facts?: EndpointFact['type'][]];

describe('A webhook endpoint', () => {
  test('is healthy once it is added', () => {
    expect(added()).toEqual({
      id: 'wh_1',
      state: 'healthy',
      failures: 0,
      failingSinceMs: null,
      probeAtMs: null,
      probes: 0,
      healthySinceMs: null,
      disabledFor: null,
      version: 1,
    });
  });

  test.each<Row>([
    ['does not change by what is delivered', [delivered()], 'healthy', { version: 1 }],
    ['counts failures in a row', [failed(), failed()], 'healthy', { failures: 2 }],
    ['forgets them with the next delivery', [failed(), delivered(), ...five.slice(1)], 'healthy', { failures: 4 }],
    ['fails after five', five, 'failing', { failingSinceMs: 0, probeAtMs: 10_000 }, ['webhook.failing']],
    ['is not probed before its time', [...five, probe(9999)], 'failing', { probeAtMs: 10_000 }, ['webhook.failing']],
    [
      'is probed by one node at its time',
      [...five, probe(10_000), probe(10_000)],
      'failing',
      { probeAtMs: 40_000 },
      ['webhook.failing', 'webhook.probing'],
    ],
    [
      'is probed at a time before which no probe can have been planned, because the clock was set back',
      [...five, probe(-590_000), probe(-590_001)],
      'failing',
      { probeAtMs: -560_001 },
      ['webhook.failing', 'webhook.probing'],
    ],
    ['waits longer after each probe', [...five, failed(10_000), failed(30_000)], 'failing', { probeAtMs: 70_000 }],
    [
      'waits no longer than ten minutes',
      [...five, ...Array.from({ length: 20 }, () => failed(1000))],
      'failing',
      { probeAtMs: 601_000, probes: 20 },
    ],
    [
      'is healthy again with the first delivery',
      [...five, delivered(10_000)],
      'healthy',
      { failures: 0, probes: 0, probeAtMs: null, failingSinceMs: null, healthySinceMs: 10_000 },
      ['webhook.failing', 'webhook.healthy'],
    ],
    ['is not given up early', [...five, clock(FAILING_MS - 1)], 'failing', {}],
    ['is given up after days', [...five, clock(FAILING_MS)], 'disabled', { disabledFor: 'failing', probeAtMs: null }],
    ['is given up by a failure after days', [...five, failed(FAILING_MS)], 'disabled', { disabledFor: 'failing' }],
    ['is given up in the place of a probe', [...five, probe(FAILING_MS)], 'disabled', { disabledFor: 'failing' }],
    ['that wants nothing more is disabled', [gone()], 'disabled', { disabledFor: 'gone' }, ['webhook.disabled']],
    ['that fails and wants nothing more is disabled', [...five, gone()], 'disabled', { disabledFor: 'gone' }],
    ['is switched off', [disable()], 'disabled', { disabledFor: 'operator' }],
    ['is switched off while it fails', [...five, disable()], 'disabled', { failingSinceMs: null }],
    ['that fails again came back no more', [...five, delivered(1), ...five], 'failing', { healthySinceMs: null }],
    ['stays off whatever is under way', [disable(), delivered(), ...five, gone()], 'disabled', { version: 2 }],
    [
      'that is switched on is probed at once',
      [disable(), enable(5000)],
      'failing',
      { disabledFor: null, failingSinceMs: 5000, probeAtMs: 5000 },
    ],
    ['that fails is probed at once where it is switched on', [...five, enable(2000)], 'failing', { probeAtMs: 2000 }],
    ['that is healthy is not switched on', [enable()], 'healthy', { version: 1 }],
  ])('%s', (_title, events, state, rest, facts) => {
    const after = play(added(), events);
    expect(after.record).toMatchObject({ ...rest, state });
    const told = after.facts.map(({ type }) => type);
    expect(told).toEqual(facts ?? told);
  });
});

const at = fc.integer({ min: 0, max: 2 * FAILING_MS });
const anyEvent: fc.Arbitrary<EndpointEvent> = fc.oneof(
  { weight: 6, arbitrary: at.map(failed) },
  ...[delivered, gone, probe, disable, enable, clock].map((event) => at.map(event)),
);

describe('Every sequence of events', () => {
  test('raises the version by one with each change, and keeps the data of a state only in that state', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 30 }), (events) => {
        let record = added();
        for (const event of events.toSorted((a, b) => a.at - b.at)) {
          const { record: next } = play(record, [event]);
          expect([record, { ...next, version: record.version + 1 }]).toContainEqual(next);
          expect(next.failingSinceMs !== null).toBe(next.state === 'failing');
          expect(next.probeAtMs !== null).toBe(next.state === 'failing');
          expect(next.disabledFor !== null).toBe(next.state === 'disabled');
          expect(next.failures).toBeLessThan(5);
          record = next;
        }
      }),
      examples(300),
    );
  });

  test('lets only one probe run at a time', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 12 }), at, (events, time) => {
        const { record } = play(
          added(),
          events.toSorted((a, b) => a.at - b.at),
        );
        const { facts } = play(record, [probe(time), probe(time), probe(time)]);
        expect(facts.filter(({ type }) => type === 'webhook.probing').length).toBeLessThanOrEqual(1);
      }),
      examples(300),
    );
  });

  test('makes a failing endpoint be probed within ten minutes, however the clock was set', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 12 }), at, (events, time) => {
        const { record } = play(added(), events);
        const mayBe = (when: number) => play(record, [probe(when)]).record.version > record.version;
        fc.pre(record.state === 'failing');
        expect(mayBe(time) || mayBe(time + 600_000)).toBe(true);
      }),
      examples(300),
    );
  });

  test('leaves a record that the clock moves at its deadline, not before, to the state it is classified as', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 12 }), at, (events, time) => {
        const { record } = play(
          added(),
          events.toSorted((a, b) => a.at - b.at),
        );
        expect(play(record, [clock(time)]).record.state).toBe(classify(record, time));
        expect(classify(record, time) !== record.state).toBe(time >= nextDeadline(record));
      }),
      examples(300),
    );
  });
});
