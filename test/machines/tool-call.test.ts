import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createActor, type AnyStateMachine } from 'xstate';
import { toolCallMachine } from '../../machines/tool-call/machine.ts';
import { classify, isUnanswered, nextDeadline, savedState } from '../../machines/tool-call/selectors.ts';
import type { ToolCallEvent, ToolCallRecord, ToolCallState } from '../../machines/tool-call/types.ts';
import { examples } from '../support/examples.ts';

const machine: AnyStateMachine = toolCallMachine;
const terms = { id: 't1', callId: 'c1', toolCallId: 'call_1', sessionId: 's1', name: 'lookup' };

function asked(): ToolCallRecord {
  const actor = createActor(machine).start();
  actor.send({ type: 'ASK', at: 1000, terms, untilMs: 9000, fence: 4 } satisfies ToolCallEvent);
  return actor.getSnapshot().context as ToolCallRecord;
}

/** The record after some events. As in the host, each event has a new actor, and a record that is done gets none. */
function play(first: ToolCallRecord, events: readonly ToolCallEvent[]): ToolCallRecord {
  let record = first;
  for (const event of events) {
    const snapshot = machine.resolveState({ value: savedState(record), context: record });
    if (snapshot.status === 'done') continue;
    const actor = createActor(machine, { snapshot });
    actor.start();
    actor.send(event);
    const after = actor.getSnapshot();
    record = after.context as ToolCallRecord;
    expect(after.value).toBe(record.state);
  }
  return record;
}

const started: ToolCallEvent = { type: 'STARTED', at: 1000 };
const answered = (at = 3000): ToolCallEvent => ({ type: 'ANSWERED', at, bytes: 12, endReason: null });
const failed = (at = 3000): ToolCallEvent => ({ type: 'FAILED', at, code: 'unreachable' });
const refused: ToolCallEvent = { type: 'REFUSED', at: 1000, code: 'bad_arguments' };
const taken = (fence = 5, at = 12_000): ToolCallEvent => ({ type: 'TAKEN', at, fence });
const closed = (at = 3000): ToolCallEvent => ({ type: 'CALL_CLOSED', at });
const clock = (at: number): ToolCallEvent => ({ type: 'CLOCK', at });

describe('A tool call', () => {
  test('is asked with its terms before anything is sent', () => {
    expect(asked()).toEqual({
      ...terms,
      state: 'asked',
      askedAtMs: 1000,
      untilMs: 9000,
      tries: 0,
      code: null,
      detail: null,
      ms: null,
      endReason: null,
      bytes: null,
      fence: 4,
      version: 1,
    });
  });

  type Row = [title: string, events: ToolCallEvent[], state: ToolCallState, rest: Partial<ToolCallRecord>];

  test.each<Row>([
    ['runs once it is started', [started], 'running', { tries: 1, ms: null }],
    ['is answered', [started, answered()], 'answered', { code: null, ms: 2000, bytes: 12 }],
    ['is answered once', [started, answered(), answered(4000), failed()], 'answered', { ms: 2000, version: 3 }],
    ['fails', [started, failed()], 'failed', { code: 'unreachable', ms: 2000, bytes: null }],
    [
      'fails with what went wrong',
      [started, { type: 'FAILED', at: 3000, code: 'failed', detail: 'status 500' }],
      'failed',
      { code: 'failed', detail: 'status 500' },
    ],
    ['fails without a request', [refused], 'failed', { code: 'bad_arguments', ms: 0, tries: 0 }],
    ['that runs is refused no more', [started, refused], 'running', {}],
    ['that was not started is not answered', [answered(), failed()], 'asked', { version: 1 }],
    ['does not mind an early clock', [started, clock(8999)], 'running', { version: 2 }],
    ['is over by the clock', [started, clock(9000)], 'timed_out', { code: 'timed_out', ms: 8000 }],
    ['is over by the clock also where it was never started', [clock(9000)], 'timed_out', { tries: 0 }],
    ['is not started too late', [{ type: 'STARTED', at: 9000 }], 'timed_out', { tries: 0 }],
    ['is not answered too late', [started, answered(9000)], 'timed_out', { bytes: null }],
    ['is dropped with its voice call', [started, closed()], 'dropped', { code: null, ms: 2000 }],
    ['is dropped with it before it was started', [closed(1000)], 'dropped', { ms: 0 }],
    [
      'is interrupted when another node takes its call',
      [started, taken()],
      'failed',
      { code: 'interrupted', fence: 5, ms: 11_000 },
    ],
    ['is so also where nothing was sent', [taken()], 'failed', { code: 'interrupted', fence: 5, tries: 0 }],
    [
      'is not taken by a node that came before',
      [started, taken(4), taken(3)],
      'running',
      { fence: 4, tries: 1, version: 2 },
    ],
  ])('%s', (_title, events, state, rest) => {
    expect(play(asked(), events)).toMatchObject({ ...rest, state });
  });
});

const at = fc.integer({ min: 1000, max: 40_000 });
const anyEvent: fc.Arbitrary<ToolCallEvent> = fc.oneof(
  at.map((time): ToolCallEvent => ({ type: 'STARTED', at: time })),
  at.map(answered),
  at.map(failed),
  at.map((time): ToolCallEvent => ({ ...refused, at: time })),
  fc.tuple(fc.integer({ min: 1, max: 9 }), at).map(([fence, time]) => taken(fence, time)),
  at.map(closed),
  at.map(clock),
);

describe('Every sequence of events', () => {
  test('ends it at most once, never lowers versions or fences, and saves every change', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 20 }), (events) => {
        let record = asked();
        for (const event of events.toSorted((a, b) => a.at - b.at)) {
          const next = play(record, [event]);
          expect([record, { ...next, version: record.version + 1 }]).toContainEqual(next);
          expect(next.fence).toBeGreaterThanOrEqual(record.fence);
          expect(next.tries).toBeLessThanOrEqual(1);
          expect(isUnanswered(record) || next === record).toBe(true);
          record = next;
        }
      }),
      examples(300),
    );
  });

  test('leaves a record that the clock moves at its deadline, not before, to the state it is classified as', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 8 }), at, (events, time) => {
        const record = play(
          asked(),
          events.toSorted((a, b) => a.at - b.at),
        );
        expect(play(record, [clock(time)]).state).toBe(classify(record, time));
        expect(classify(record, time) !== record.state).toBe(time >= nextDeadline(record));
      }),
      examples(300),
    );
  });
});
