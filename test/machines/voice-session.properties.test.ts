import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { classify, nextDeadline, nextMove, savedState } from '../../machines/voice-session/selectors.ts';
import type { VoiceFact } from '../../machines/voice-session/types.ts';
import {
  activate,
  anyEvents,
  anyLimits,
  anyWords,
  clock,
  MINUTE,
  opened,
  play,
  SECOND,
} from './voice-session-support.ts';
import { examples } from '../support/examples.ts';

const runs = examples(200);

describe('For every sequence of events and times, a voice session', () => {
  test('is in the state that follows from its record and the time', () => {
    const holds = fc.property(anyLimits, anyWords, anyEvents, (limits, words, events) => {
      const actor = activate(opened(0, words), limits);
      for (const event of events) {
        actor.send(event);
        const record = actor.record();
        // A node whose clock is behind does not bring back an earlier state.
        expect(actor.state()).toBe(classify(record, Math.max(event.at, record.settledAtMs), limits));
        expect(actor.state()).toBe(savedState(record, limits));
      }
    });
    fc.assert(holds, runs);
  });

  test('ends up the same if it is activated anew from its record for each event', () => {
    const holds = fc.property(anyLimits, anyWords, anyEvents, (limits, words, events) => {
      let record = opened(0, words);
      const facts: VoiceFact[] = [];
      for (const event of events) {
        const step = play(record, limits, [event]);
        record = step.record;
        facts.push(...step.facts);
      }
      const whole = play(opened(0, words), limits, events);
      expect([record, facts]).toEqual([whole.record, whole.facts]);
    });
    fc.assert(holds, runs);
  });

  test('ends at most once, and never changes afterwards', () => {
    const holds = fc.property(anyLimits, anyWords, anyEvents, (limits, words, events) => {
      const actor = activate(opened(0, words), limits);
      for (const event of events) {
        const before = actor.record();
        actor.send(event);
        const after = actor.record();
        expect(before.endedAtMs === null || after === before).toBe(true);
        expect(after.endedAtMs === null).toBe(after.endReason === null);
        expect(after.endedAtMs === null).toBe(actor.state() !== 'ended');
      }
      const ends = actor.facts.filter(({ type }) => type === 'session.ended');
      expect(ends).toHaveLength(actor.record().endedAtMs === null ? 0 : 1);
    });
    fc.assert(holds, runs);
  });

  test('waits until its visitor speaks in time, and never again', () => {
    const holds = fc.property(anyLimits, anyWords, anyEvents, (limits, words = 0, events) => {
      const actor = activate(opened(0, words), limits);
      for (const event of events) {
        const before = actor.record();
        const isHeard =
          event.type === 'SPOKE' && event.at < nextDeadline(before, limits) && actor.state() === 'engaged';
        actor.send(event);
        expect(actor.record().wordsDueAtMs).toBe(isHeard ? 0 : before.wordsDueAtMs);
      }
    });
    fc.assert(holds, runs);
  });

  test('moves only forward: engaged, idle, stale, ended, each at most once', () => {
    const order = ['session.idle', 'session.stale', 'session.ended'];
    const holds = fc.property(anyLimits, anyWords, anyEvents, (limits, words, events) => {
      const told = play(opened(0, words), limits, events).facts.map(({ type }) => order.indexOf(type));
      expect(told).toEqual([...new Set(told)].sort((a, b) => a - b));
    });
    fc.assert(holds, runs);
  });

  test('never moves a time or its version backwards, and saves every change under a new version', () => {
    const holds = fc.property(anyLimits, anyWords, anyEvents, (limits, words, events) => {
      const actor = activate(opened(0, words), limits);
      for (const event of events) {
        const before = actor.record();
        actor.send(event);
        const after = actor.record();
        for (const field of ['lastSeenAtMs', 'lastActivityAtMs', 'settledAtMs'] as const)
          expect(after[field]).toBeGreaterThanOrEqual(before[field]);
        expect(after.version > before.version || isDeepStrictEqual(after, before)).toBe(true);
      }
    });
    fc.assert(holds, runs);
  });

  test('lasts no longer than its maximum while somebody is there, and ends no earlier than it was last seen', () => {
    const holds = fc.property(anyLimits, anyWords, anyEvents, (limits, words, events) => {
      const { record } = play(opened(0, words), limits, events);
      const { lastSeenAtMs, endedAtMs, endReason, wordsDueAtMs } = record;
      const longestMs = limits.maxMinutes * MINUTE;
      expect(lastSeenAtMs).toBeLessThanOrEqual(longestMs);
      expect(endedAtMs ?? Infinity).toBeGreaterThanOrEqual(lastSeenAtMs);
      const endsMs = wordsDueAtMs === 0 ? longestMs : Math.min(wordsDueAtMs, longestMs);
      expect(endReason === 'duration_exceeded' ? endedAtMs : endsMs).toBe(endsMs);
    });
    fc.assert(holds, runs);
  });
});

describe('For every session after some events', () => {
  test('the next deadline is the first instant at which the clock changes its state', () => {
    const holds = fc.property(anyLimits, anyWords, anyEvents, (limits, words, events) => {
      const { record, state } = play(opened(0, words), limits, events);
      const deadline = nextDeadline(record, limits);
      expect(deadline === Infinity).toBe(state === 'ended');
      fc.pre(state !== 'ended');
      expect(play(record, limits, [clock(deadline - 1)]).record).toEqual(record);
      expect(play(record, limits, [clock(deadline)]).state).not.toBe(state);
      expect(deadline).toBeGreaterThan(record.settledAtMs);
    });
    fc.assert(holds, runs);
  });

  test('the clock makes the next move as predicted, at its time and for its reason', () => {
    const holds = fc.property(anyLimits, anyWords, anyEvents, (limits, words, events) => {
      const actor = activate(play(opened(0, words), limits, events).record, limits);
      const before = actor.record();
      const move = nextMove(before, limits);
      expect(move?.atMs ?? Infinity).toBe(nextDeadline(before, limits));
      if (move === undefined) return;
      // A deadline that has already passed takes effect at the time up to which the record is settled.
      actor.send({ type: 'CLOCK', at: Math.max(move.atMs, before.settledAtMs) });
      expect(actor.record().endReason).toBe(move.reason);
      expect(actor.state()).toBe(move.to);
    });
    fc.assert(holds, runs);
  });

  test('the clock finally ends it, under any limits', () => {
    const holds = fc.property(anyLimits, anyLimits, anyWords, anyEvents, (limits, later, words, events) => {
      const { record } = play(opened(0, words), limits, events);
      const { state, facts } = play(record, later, [clock(record.settledAtMs + 3600 * SECOND)]);
      expect(state).toBe('ended');
      expect(facts.filter(({ type }) => type === 'session.ended')).toHaveLength(record.endedAtMs === null ? 1 : 0);
    });
    fc.assert(holds, runs);
  });
});
