import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { laterOf, restored } from '../../machines/voice-session/merge.ts';
import { isAsRestored } from '../../machines/voice-session/selectors.ts';
import type { VoiceEvent, VoiceRecord } from '../../machines/voice-session/types.ts';
import {
  anyEvents,
  anyLimits,
  anyWords,
  defaults,
  end,
  heartbeat,
  lastLive,
  opened,
  play,
  spoke,
} from './voice-session-support.ts';
import { examples } from '../support/examples.ts';

const early = play(opened(), defaults, [heartbeat(5)]).record;
const late = play(opened(), defaults, [heartbeat(9)]).record;
const over = play(opened(), defaults, [end(7, 'closed_by_client')]).record;

describe('Of two records that changed independently, the one that counts', () => {
  test.each([
    ['the later of two live ones', early, late, late],
    ['an end, also of an earlier time', late, over, over],
  ])('is %s, whichever is named first', (_what, one, other, wins) => {
    expect([laterOf(one, other), laterOf(other, one)]).toEqual([wins, wins]);
  });

  test('is the first if the second adds nothing, and of two ends as well', () => {
    const again = { ...late };
    expect(laterOf(late, again)).toBe(late);
    expect(laterOf(over, { ...over, endReason: 'key_revoked' })).toBe(over);
  });

  test('keeps activity that only the earlier one knows', () => {
    const lastActivityAtMs = late.lastActivityAtMs + 1;
    expect(laterOf(late, { ...early, lastActivityAtMs })).toEqual({ ...late, lastActivityAtMs });
  });
});

test('Once one of two nodes has heard the visitor speak, no words are due, whichever record is later', () => {
  const silent = play(opened(0, 60), defaults, [heartbeat(9)]).record;
  const heard = play(opened(0, 60), defaults, [spoke(5)]).record;
  expect(laterOf(silent, heard)).toEqual({ ...silent, wordsDueAtMs: 0 });
  expect(laterOf(heard, silent)).toEqual({ ...silent, wordsDueAtMs: 0 });
});

/** Three records of one session after different events. They are getters, so that events are played only when a test asks. */
const branches = (areToBeLive: boolean) =>
  fc.tuple(anyLimits, anyWords, anyEvents, anyEvents, anyEvents).map(([limits, words, one, other, third]) => {
    const leftBy = (events: readonly VoiceEvent[]): VoiceRecord =>
      areToBeLive ? lastLive(limits, events, words) : play(opened(0, words), limits, events).record;
    return {
      get one() {
        return leftBy(one);
      },
      get other() {
        return leftBy(other);
      },
      get third() {
        return leftBy(third);
      },
    };
  });

const unversioned = (record: VoiceRecord): VoiceRecord => ({ ...record, version: 0 });

describe('For all records of one session, the record that counts', () => {
  test('does not depend on the order of two live ones', () => {
    const holds = fc.property(branches(true), ({ one, other }) => {
      expect(unversioned(laterOf(one, other))).toEqual(unversioned(laterOf(other, one)));
    });
    fc.assert(holds, examples(200));
  });

  test('does not depend on how three live ones are combined', () => {
    const holds = fc.property(branches(true), ({ one, other, third }) => {
      const [left, right] = [laterOf(laterOf(one, other), third), laterOf(one, laterOf(other, third))];
      expect(unversioned(left)).toEqual(unversioned(right));
    });
    fc.assert(holds, examples(200));
  });

  test('does not change if either comes twice', () => {
    const holds = fc.property(branches(false), ({ one, other }) => {
      const merged = laterOf(one, other);
      expect(laterOf(one, one)).toBe(one);
      expect([laterOf(merged, one), laterOf(merged, other)]).toEqual([merged, merged]);
    });
    fc.assert(holds, examples(200));
  });

  test('is the one that has ended, in either order', () => {
    const holds = fc.property(branches(true), branches(false), ({ one: live }, { one: other }) => {
      const wins = other.endedAtMs === null ? laterOf(live, other) : other;
      expect([laterOf(live, other), unversioned(laterOf(other, live))]).toEqual([wins, unversioned(wins)]);
    });
    fc.assert(holds, examples(200));
  });

  test('is, among live ones, as late as each', () => {
    const holds = fc.property(branches(true), ({ one, other }) => {
      const merged = laterOf(one, other);
      for (const field of ['lastSeenAtMs', 'lastActivityAtMs', 'settledAtMs'] as const)
        expect(merged[field]).toBe(Math.max(one[field], other[field]));
    });
    fc.assert(holds, examples(200));
  });

  test('gets a version far above those that it replaces, and is recognizable as restored until it changes', () => {
    const holds = fc.property(branches(false), ({ one: present, other: record }) => {
      for (const fresh of [restored(record), restored(record, present), restored(present, restored(record))]) {
        expect(fresh.version - Math.max(present.version, record.version)).toBeGreaterThan(900_000);
        expect([isAsRestored(fresh), isAsRestored({ ...fresh, version: fresh.version + 1 })]).toEqual([true, false]);
      }
      expect(restored(restored(record)).version).toBeGreaterThan(restored(record).version);
      expect({ ...restored(record, present), version: record.version }).toEqual(record);
    });
    fc.assert(holds, examples(100));
  });
});
