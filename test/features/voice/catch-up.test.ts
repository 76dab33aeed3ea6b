import { describe, expect, test } from 'vitest';
import { laterOf } from '../../../src/voice/catch-up.ts';
import { defaults, end, heartbeat, opened, play } from '../../machines/voice-session-support.ts';

const early = play(opened(), defaults, [heartbeat(5)]).record;
const late = play(opened(), defaults, [heartbeat(9)]).record;
const over = play(opened(), defaults, [end(7, 'closed_by_client')]).record;

describe('What counts of two records that changed apart from each other', () => {
  test.each([
    ['the later of two live ones', early, late, late],
    ['an end, also of an earlier time', late, over, over],
  ])('is %s, whichever is named first', (_what, one, other, wins) => {
    expect([laterOf(one, other), laterOf(other, one)]).toEqual([wins, wins]);
  });

  test('is the one that is named first when the other adds nothing, and of two ends as well', () => {
    const again = { ...late };
    expect(laterOf(late, again)).toBe(late);
    expect(laterOf(over, { ...over, endReason: 'key_revoked' })).toBe(over);
  });

  test('keeps an activity of which only the earlier one knows', () => {
    const lastActivityAtMs = late.lastActivityAtMs + 1;
    expect(laterOf(late, { ...early, lastActivityAtMs })).toEqual({ ...late, lastActivityAtMs });
  });
});
