import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createVoiceSessionMachine } from '../../machines/voice-session/machine.ts';
import { fastPath, openedRecord } from '../../machines/voice-session/selectors.ts';
import { nextDeadline } from '../../machines/voice-session/selectors.ts';
import type { VoiceEvent, VoiceFact, VoiceLimits, VoiceRecord } from '../../machines/voice-session/types.ts';
import {
  activity,
  anyEvents,
  anyLimits,
  anyWords,
  defaults,
  heard,
  heartbeat,
  lastLive,
  MINUTE,
  open,
  opened,
  play,
  SECOND,
  terms,
} from './voice-session-support.ts';
import { Tracer } from '../../src/actors/trace.ts';
import { examples } from '../support/examples.ts';

const anyTime = fc.integer({ min: 0, max: 10 * MINUTE });
const anyIdleSec = fc.oneof(
  fc.constant(undefined),
  fc.integer({ min: 0, max: 200 }),
  fc.constant(Number.MAX_SAFE_INTEGER),
);

/** Applies an event as the host does: by the fast path if that answers, otherwise by the machine. */
function applyFast(record: VoiceRecord, limits: VoiceLimits, event: VoiceEvent) {
  const touched = fastPath(record, event, limits);
  return touched === undefined ? play(record, limits, [event]) : { record: touched, facts: [] };
}

describe('The fast path of an opening', () => {
  test('makes the same record as the machine: engaged, and by the same steps whatever the limits and the time', () => {
    const holds = fc.property(anyLimits, anyTime, anyWords, (limits, at, words) => {
      const tracer = new Tracer(createVoiceSessionMachine(limits));
      const actor = tracer.create();
      actor.start();
      actor.send(open(at, words));
      const { context, value, status } = actor.getSnapshot();
      expect([context, value, status]).toEqual([openedRecord(terms, at, words), { live: 'engaged' }, 'active']);
      expect(tracer.told).toEqual({
        steps: [{ event: 'OPEN', from: 'unopened', to: 'live', guard: null, actions: ['open'] }],
        guards: [
          { name: 'isPastDuration', passed: false },
          { name: 'hasGoneIdle', passed: false },
        ],
      });
    });
    fc.assert(holds, examples(200));
  });
});

describe('The fast path of a heartbeat and of other activity', () => {
  test('answers as the machine does, and answers whenever no state changes', () => {
    const words = fc.tuple(anyWords, anyEvents);
    const holds = fc.property(anyLimits, words, anyTime, anyIdleSec, (limits, [words, events], time, idleSec) => {
      const { record, state } = play(opened(0, words), limits, events);
      const deadline = nextDeadline(record, limits);
      const { heardUntilMs, wordsDueAtMs } = record;
      const edges = [deadline - 1, deadline, deadline + 1, heardUntilMs - 1, heardUntilMs, wordsDueAtMs];
      for (const at of [time, ...edges.filter((edge) => edge >= 0 && edge !== Infinity)])
        for (const event of [heartbeat(at, idleSec), activity(at), heard(at, MINUTE)]) {
          const decided = play(record, limits, [event]);
          const movesNothing = state === 'engaged' && decided.facts.length === 0;
          expect(fastPath(record, event, limits)).toEqual(movesNothing ? decided.record : undefined);
        }
    });
    fc.assert(holds, examples(200));
  });

  test('gives the same result with the machine as the machine alone, for every sequence of events and times', () => {
    const holds = fc.property(anyLimits, anyWords, anyEvents, (limits, words, events) => {
      let record = opened(0, words);
      const facts: VoiceFact[] = [];
      for (const event of events) {
        const step = applyFast(record, limits, event);
        record = step.record;
        facts.push(...step.facts);
      }
      const whole = play(opened(0, words), limits, events);
      expect([record, facts]).toEqual([whole.record, whole.facts]);
    });
    fc.assert(holds, examples(200));
  });

  test('answers as the machine does even under other limits than those under which the record was saved', () => {
    const soon = fc.integer({ min: -5 * SECOND, max: 30 * SECOND });
    const changed = fc.tuple(anyLimits, anyLimits);
    const holds = fc.property(changed, anyWords, anyEvents, soon, ([limits, later], words, events, ms) => {
      const record = lastLive(limits, events, words);
      const at = record.lastActivityAtMs + ms;
      const touched = fastPath(record, heartbeat(at), later);
      fc.pre(touched !== undefined);
      const decided = play(record, later, [heartbeat(at)]);
      expect([touched, []]).toEqual([decided.record, decided.facts]);
    });
    fc.assert(holds, examples(200));
  });

  test.each([
    ['before any call is heard', [], MINUTE],
    ['when a call was heard until that instant', [heard(0, MINUTE)], MINUTE],
    ['when the call that was heard is over', [heard(0, 2 * MINUTE), heard(30 * SECOND, 0)], MINUTE],
    ['not while a call is heard', [heard(0, MINUTE + 1)], 0],
  ])('believes a client about when somebody spoke, %s', (_when, events, spokenAtMs) => {
    const { record } = play(opened(), defaults, events);
    const told = (idleSec?: number) => fastPath(record, heartbeat(MINUTE, idleSec), defaults)?.lastActivityAtMs;
    expect([told(), told(10)]).toEqual([spokenAtMs, Math.max(0, spokenAtMs - 10 * SECOND)]);
  });
});
