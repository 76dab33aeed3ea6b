import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { activityFastPath, fastPath } from '../../machines/voice-session/selectors.ts';
import { nextDeadline } from '../../machines/voice-session/selectors.ts';
import type { VoiceEvent, VoiceFact, VoiceLimits, VoiceRecord } from '../../machines/voice-session/types.ts';
import {
  anyEvents,
  anyLimits,
  defaults,
  heartbeat,
  lastLive,
  MINUTE,
  opened,
  play,
  SECOND,
} from './voice-session-support.ts';
import { examples } from '../support/examples.ts';

const anyTime = fc.integer({ min: 0, max: 10 * MINUTE });
const anyIdleSec = fc.oneof(
  fc.constant(undefined),
  fc.integer({ min: 0, max: 200 }),
  fc.constant(Number.MAX_SAFE_INTEGER),
);

/** As the host applies an event: by the fast path where that answers, else by the machine. */
function applyFast(record: VoiceRecord, limits: VoiceLimits, event: VoiceEvent) {
  const touched =
    event.type === 'HEARTBEAT'
      ? fastPath(record, event.at, event.idleSec, limits)
      : event.type === 'ACTIVITY'
        ? activityFastPath(record, event.at, limits)
        : undefined;
  return touched === undefined ? play(record, limits, [event]) : { record: touched, facts: [] };
}

describe('The fast path of a heartbeat, and of other activity', () => {
  test('answers as the machine does, and answers whenever no state moves', () => {
    const holds = fc.property(
      anyLimits,
      anyEvents,
      anyTime,
      anyIdleSec,
      fc.boolean(),
      (limits, events, time, idleSec, isHeard) => {
        const { record, state } = play(opened(0, isHeard), limits, events);
        const deadline = nextDeadline(record, limits);
        const edges = deadline === Infinity ? [] : [deadline - 1, deadline, deadline + 1];
        for (const at of [time, ...edges]) {
          const decided = play(record, limits, [heartbeat(at, idleSec)]);
          const movesNothing = state === 'engaged' && decided.facts.length === 0;
          expect(fastPath(record, at, idleSec, limits)).toEqual(movesNothing ? decided.record : undefined);
          const after = play(record, limits, [{ type: 'ACTIVITY', at }]);
          const staysEngaged = state === 'engaged' && after.facts.length === 0;
          expect(activityFastPath(record, at, limits)).toEqual(staysEngaged ? after.record : undefined);
        }
      },
    );
    fc.assert(holds, examples(200));
  });

  test('comes with the machine to what the machine alone comes to, for every sequence of events and times', () => {
    const holds = fc.property(anyLimits, anyEvents, fc.boolean(), (limits, events, isHeard) => {
      let record = opened(0, isHeard);
      const facts: VoiceFact[] = [];
      for (const event of events) {
        const step = applyFast(record, limits, event);
        record = step.record;
        facts.push(...step.facts);
      }
      const whole = play(opened(0, isHeard), limits, events);
      expect([record, facts]).toEqual([whole.record, whole.facts]);
    });
    fc.assert(holds, examples(200));
  });

  test('answers as the machine does also under other limits than those that the record was saved with', () => {
    const soon = fc.integer({ min: -5 * SECOND, max: 30 * SECOND });
    const holds = fc.property(anyLimits, anyLimits, anyEvents, soon, (limits, later, events, ms) => {
      const record = lastLive(limits, events);
      const at = record.lastActivityAtMs + ms;
      const touched = fastPath(record, at, undefined, later);
      fc.pre(touched !== undefined);
      const decided = play(record, later, [heartbeat(at)]);
      expect([touched, []]).toEqual([decided.record, decided.facts]);
    });
    fc.assert(holds, examples(200));
  });

  test('takes a client at its word on who spoke, but not where the calls are heard', () => {
    const spokenAtMs = (isHeard: boolean, idleSec?: number) =>
      fastPath(opened(0, isHeard), MINUTE, idleSec, defaults)?.lastActivityAtMs;
    expect([spokenAtMs(false), spokenAtMs(false, 10), spokenAtMs(true), spokenAtMs(true, 10)]).toEqual([
      MINUTE,
      MINUTE - 10 * SECOND,
      0,
      0,
    ]);
  });
});
