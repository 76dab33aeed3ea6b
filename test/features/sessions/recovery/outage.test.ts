import { describe, expect, test } from 'vitest';
import { Outage, type OutageEvent, type OutageState } from '../../../../src/sessions/recovery/outage.ts';

/** A time at which no doubt is remembered any more. */
const LATE = 1_000_000;

const ways: Readonly<Record<OutageState, readonly OutageEvent['type'][]>> = {
  up: [],
  doubtful: ['CALL_FAILED'],
  away: ['SWEEP_FAILED'],
};

/** An outage after these events at this time. */
function after(at: number, ...events: readonly OutageEvent['type'][]): Outage {
  const outage = new Outage(0);
  for (const type of events) outage.send({ type, at });
  return outage;
}

describe('Live stores', () => {
  test.each<[from: OutageState, event: OutageEvent['type'], at: number, to: OutageState]>([
    ['up', 'CALL_FAILED', 0, 'doubtful'],
    ['up', 'CONNECTION_LOST', 0, 'doubtful'],
    ['up', 'SWEEP_FAILED', 0, 'away'],
    ['up', 'ANSWERED', 0, 'up'],
    ['up', 'CLOCK', LATE, 'up'],
    ['doubtful', 'CALL_FAILED', 0, 'doubtful'],
    ['doubtful', 'CONNECTION_LOST', 0, 'doubtful'],
    ['doubtful', 'SWEEP_FAILED', 0, 'away'],
    ['doubtful', 'ANSWERED', LATE, 'doubtful'],
    ['doubtful', 'CLOCK', 1999, 'doubtful'],
    ['doubtful', 'CLOCK', 2000, 'up'],
    ['away', 'CALL_FAILED', 0, 'away'],
    ['away', 'CONNECTION_LOST', 0, 'away'],
    ['away', 'SWEEP_FAILED', 0, 'away'],
    ['away', 'ANSWERED', 0, 'doubtful'],
    ['away', 'CLOCK', LATE, 'away'],
  ])('that are %s are after %s at %i ms %s', (from, type, at, to) => {
    const outage = after(0, ...ways[from]);
    expect(outage.state).toBe(from);
    outage.send({ type, at });
    expect(outage.state).toBe(to);
  });

  test('are doubtful for two seconds after the last failure, not the first', () => {
    const outage = after(0, 'SWEEP_FAILED', 'ANSWERED');
    outage.send({ type: 'CALL_FAILED', at: 1500 });
    outage.send({ type: 'CLOCK', at: 3499 });
    expect(outage.state).toBe('doubtful');
    outage.send({ type: 'CLOCK', at: 3500 });
    expect(outage.state).toBe('up');
  });

  test('settle for a while after the sweep failed, whatever else happens, and not after a call that failed', () => {
    const outage = after(0, 'SWEEP_FAILED', 'ANSWERED');
    outage.send({ type: 'CALL_FAILED', at: 1000 });
    expect([outage.isSettling(1199), outage.isSettling(1200)]).toEqual([true, false]);
    expect(after(0, 'CALL_FAILED').isSettling(0)).toBe(false);
  });
});

describe('The time of which the live stores may have missed ends', () => {
  test('begins a while before the process, and is over when they were told', () => {
    const outage = new Outage(0);
    expect([outage.missedForMs(100), outage.missedForMs(100.2)]).toEqual([5100, 5101]);
    outage.missedEndsAreTold(100);
    expect(outage.missedForMs(200)).toBeUndefined();
  });

  test('begins a while before the first failure that was noticed', () => {
    for (const failure of ['CALL_FAILED', 'CONNECTION_LOST', 'SWEEP_FAILED'] as const) {
      const outage = new Outage(0);
      outage.missedEndsAreTold(100);
      outage.send({ type: failure, at: 10_000 });
      outage.send({ type: failure, at: 20_000 });
      outage.send({ type: 'ANSWERED', at: 21_000 });
      outage.send({ type: 'CLOCK', at: 30_000 });
      expect(outage.missedForMs(30_000)).toBe(25_000);
    }
  });

  test('goes on when they failed again while they were told', () => {
    const outage = after(10_000, 'SWEEP_FAILED', 'ANSWERED');
    outage.send({ type: 'CALL_FAILED', at: 12_000 });
    outage.missedEndsAreTold(11_000);
    expect(outage.missedForMs(12_000)).toBe(6000);
  });
});
