import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { getShortestPaths } from 'xstate/graph';
import { CLOSE_REASONS } from '../../machines/voice-call/close-reasons.ts';
import { createVoiceCallMachine } from '../../machines/voice-call/machine.ts';
import { nextDeadline } from '../../machines/voice-call/selectors.ts';
import type { CallFact, CallRecord } from '../../machines/voice-call/types.ts';
import {
  activate,
  answered,
  anyEvents,
  anyLimits,
  awaited,
  clock,
  close,
  create,
  created,
  createFailed,
  fresh,
  GIVE_UP,
  heard,
  limits,
  lost,
  over,
  play,
  ready,
  SECOND,
  taken,
} from './voice-call-support.ts';
import { examples } from '../support/examples.ts';

const runs = examples(200);
const order = ['creating', 'open', 'closing', 'closed'];

describe('For every sequence of events and times, a call', () => {
  test('only moves forward, and changes after its close only for its session', () => {
    const holds = fc.property(anyLimits, anyEvents, (under, events) => {
      const actor = activate(fresh(under), under);
      for (const event of events) {
        const before = actor.record();
        actor.send(event);
        const after = actor.record();
        expect(order.indexOf(after.state)).toBeGreaterThanOrEqual(order.indexOf(before.state));
        expect(after.state).toBe(actor.state());
        if (before.state !== 'closed') continue;
        const { graceUntilMs, ownerNode, fence, version } = after;
        expect(after).toEqual({ ...before, graceUntilMs, ownerNode, fence, version });
        const awaitedUntilMs = event.type === 'AWAITED' && before.graceUntilMs !== null ? event.untilMs : null;
        expect([before.graceUntilMs, null, awaitedUntilMs]).toContain(graceUntilMs);
        const isShorter = event.type === 'AWAITED' && (graceUntilMs ?? 0) < (before.graceUntilMs ?? 0);
        expect(isShorter).toBe(false);
      }
    });
    fc.assert(holds, runs);
  });

  test('ends up the same if it is activated anew from its record for each event', () => {
    const holds = fc.property(anyLimits, anyEvents, (under, events) => {
      let record = fresh(under);
      const facts: CallFact[] = [];
      for (const event of events) {
        const step = play(record, [event], under);
        record = step.record;
        facts.push(...step.facts);
      }
      const whole = play(fresh(under), events, under);
      expect([record, facts]).toEqual([whole.record, whole.facts]);
    });
    fc.assert(holds, runs);
  });

  test('saves every change under the next version, and raises its fence with each owner', () => {
    const holds = fc.property(anyLimits, anyEvents, (under, events) => {
      const actor = activate(fresh(under), under);
      for (const event of events) {
        const before = actor.record();
        actor.send(event);
        const after = actor.record();
        expect(isDeepStrictEqual(after, before) ? before.version : before.version + 1).toBe(after.version);
        expect(after.fence - before.fence).toBe(event.type === 'TAKEN' && after !== before ? 1 : 0);
      }
    });
    fc.assert(holds, runs);
  });

  test('that the provider created and that is closed on request has been hung up, or is known to be over', () => {
    const holds = fc.property(anyLimits, anyEvents, (under, events) => {
      const { record } = play(fresh(under), events, under);
      const { state, providerCallId, nextTryAtMs, hangup } = record;
      const isCreated = providerCallId !== null;
      expect(nextTryAtMs !== null).toBe(state === 'closing' && isCreated && hangup !== 'unconfirmed');
      expect(state === 'closed' && isCreated && hangup === 'none').toBe(false);
      expect(!isCreated && hangup !== 'none').toBe(false);
    });
    fc.assert(holds, runs);
  });

  test('counts as over by the word of a provider that never began to hang it up only with a second witness', () => {
    const holds = fc.property(anyLimits, anyEvents, (under, events) => {
      const actor = activate(fresh(under), under);
      for (const event of events) {
        const before = actor.record();
        actor.send(event);
        const { state, hangup, overAtMs, overDoor } = actor.record();
        expect(overAtMs === null).toBe(overDoor === null);
        if (state !== 'closed' || before.state === 'closed' || hangup !== 'already_over') continue;
        const isLeft = 'isLeft' in event && event.isLeft === true;
        const isOther = before.overDoor === 'sideband' || event.type === 'OVER' || 'dialled' in event;
        expect(isLeft || (isOther && event.at - (before.overAtMs ?? Infinity) >= 5000)).toBe(true);
      }
    });
    fc.assert(holds, runs);
  });

  test('keeps its first close reason, and emits its close once', () => {
    const holds = fc.property(anyLimits, anyEvents, (under, events) => {
      const actor = activate(fresh(under), under);
      let first: CallRecord['closeReason'] = null;
      for (const event of events) {
        actor.send(event);
        first ??= actor.record().closeReason;
        expect(actor.record().closeReason).toBe(first);
      }
      const told = actor.facts.filter(({ type }) => type === 'call.closed');
      expect(told).toHaveLength(actor.state() === 'closed' ? 1 : 0);
      expect(actor.record().closedAtMs === null).toBe(actor.state() !== 'closed');
    });
    fc.assert(holds, runs);
  });

  test('has no deadline that stays in the past, because the clock and the answer to each try move it on', () => {
    const holds = fc.property(anyLimits, anyEvents, fc.constantFrom('failed', 'asked'), (under, events, answer) => {
      const { record } = play(fresh(under), events, under);
      const at = Math.max(nextDeadline(record), 0);
      if (!Number.isFinite(at)) return;
      const actor = activate(record, under);
      for (let looks = 0; looks < 3 && nextDeadline(actor.record()) <= at; looks += 1) {
        actor.send(clock(at));
        const { state, nextTryAtMs } = actor.record();
        if (state === 'closing' && nextTryAtMs !== null && nextTryAtMs <= at) actor.send(answered(at, answer));
      }
      expect(nextDeadline(actor.record())).toBeGreaterThan(at);
    });
    fc.assert(holds, runs);
  });

  test('is finally closed by the clock, and its session with it if it must', () => {
    const holds = fc.property(anyLimits, anyEvents, (under, events) => {
      const actor = activate(fresh(under), under);
      for (const event of events) actor.send(event);
      for (let looks = 0; looks < 50 && Number.isFinite(nextDeadline(actor.record())); looks += 1) {
        const at = Math.max(nextDeadline(actor.record()), 10 ** 9 + looks * 10 ** 6);
        actor.send(clock(at));
      }
      expect(actor.state()).toBe('closed');
      expect(actor.record().graceUntilMs).toBeNull();
      expect(Object.keys(CLOSE_REASONS)).toContain(actor.record().closeReason);
    });
    fc.assert(holds, runs);
  });
});

describe('The model of a call', () => {
  test('reaches every state, and the end from each', () => {
    const events = [
      create,
      created(SECOND),
      createFailed(SECOND),
      ready(SECOND),
      lost(SECOND),
      close(SECOND),
      answered(SECOND, 'asked'),
      answered(SECOND, 'already_over'),
      over(SECOND),
      over(SECOND, 'lost', false),
      heard(SECOND),
      awaited(SECOND),
      taken(SECOND),
      taken(SECOND, 'two', SECOND, true),
      clock(GIVE_UP),
    ];
    const paths = getShortestPaths(createVoiceCallMachine(limits), {
      events,
      serializeState: ({ value, context: { providerCallId, hangup, overDoor, unheardSinceMs } }) =>
        JSON.stringify([value, providerCallId, hangup, overDoor, unheardSinceMs]),
    });
    const reached = paths.map(({ state }) => state);
    expect([...new Set(reached.map(({ value }) => value))].toSorted()).toEqual([...order, 'uncreated'].toSorted());
    for (const { value, context } of reached.filter((state) => state.value !== 'uncreated')) {
      const { state } = play({ ...context, state: value as CallRecord['state'] }, [
        close(SECOND),
        created(SECOND),
        answered(SECOND, 'already_over', { isLeft: true }),
      ]);
      expect(state).toBe('closed');
    }
  });
});
