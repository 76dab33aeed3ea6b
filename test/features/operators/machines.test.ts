import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AnyStateMachine } from 'xstate';
import { machineWords, type MachineLimits } from '../../../src/operators/machines/labels.ts';
import { drawnMachines, journaledMachines } from '../../../src/operators/machines/machines.ts';
import { MACHINES } from '../../../src/stores/journal/contract.ts';

const limits: MachineLimits = {
  voice: { maxMinutes: 15, maxIdleSec: 300, staleGraceSec: 3600, staleReapSec: 3600 },
  calls: { graceSec: 30, unheardSec: 20 },
  otp: { expiryMinutes: 10, maxAttempts: 5 },
  auth: { expiryHours: 24, absoluteHours: 0 },
};

/** Any limits that the variables allow (docs/operations.md). */
const anyLimits: fc.Arbitrary<MachineLimits> = fc.record({
  voice: fc.record({
    maxMinutes: fc.integer({ min: 1, max: 1440 }),
    maxIdleSec: fc.integer({ min: 1, max: 86_400 }),
    staleGraceSec: fc.integer({ min: 1, max: 604_800 }),
    staleReapSec: fc.integer({ min: 0, max: 604_800 }),
  }),
  calls: fc.record({ graceSec: fc.integer({ min: 0, max: 3600 }), unheardSec: fc.integer({ min: 0, max: 3600 }) }),
  otp: fc.record({
    expiryMinutes: fc.integer({ min: 1, max: 1440 }),
    maxAttempts: fc.integer({ min: 1, max: 100 }),
  }),
  auth: fc.record({
    expiryHours: fc.integer({ min: 1, max: 8760 }),
    absoluteHours: fc.integer({ min: 0, max: 87_600 }),
  }),
});

/** Every event and guard that occurs anywhere in a machine. */
function namesIn(machine: AnyStateMachine): string[] {
  const eventsOf = ({ transitions, states }: AnyStateMachine['root']): string[] => [
    ...transitions.keys(),
    ...Object.values(states).flatMap(eventsOf),
  ];
  const events = eventsOf(machine.root).filter((event) => event !== '');
  return [...new Set([...events, ...Object.keys(machine.implementations.guards)])].toSorted();
}

describe('The words of machines', () => {
  test.each(drawnMachines(limits).map(({ machine, words }) => [machine.id, machine, words] as const))(
    'name every event and every guard of %s, and nothing else',
    (_, machine, words) => {
      expect(namesIn(machine).length).toBeGreaterThan(5);
      expect(Object.keys(words).toSorted()).toEqual(namesIn(machine));
    },
  );

  test('are there for each machine whose events are kept', () => {
    expect(journaledMachines(limits).map(({ machine }) => machine.id)).toEqual(MACHINES);
  });

  test('have at most 16 characters, whatever the limits are, and tell one from another', () => {
    fc.assert(
      fc.property(
        anyLimits,
        fc.constantFrom(
          ...MACHINES,
          'held-call' as const,
          'tool-call' as const,
          'webhook-endpoint' as const,
          'budget' as const,
        ),
        (limits, machine) => {
          const words = Object.values(machineWords(machine, limits));
          expect(words.filter((word) => word.length > 16 || word.length === 0)).toEqual([]);
        },
      ),
    );
    for (const { words } of drawnMachines(limits))
      expect(new Set(Object.values(words)).size).toBe(Object.keys(words).length);
  });

  test('have the limits in them, in the unit that says them best', () => {
    expect(machineWords('voice-session', limits)).toMatchObject({
      isPastDuration: '15 min over',
      hasGoneIdle: 'silent > 300 s',
      hasGoneStale: 'silent > 1 h',
      isAbandoned: 'stale > 1 h',
    });
    const odd = { ...limits.voice, maxIdleSec: 90, staleGraceSec: 604_799, staleReapSec: 0 };
    expect(machineWords('voice-session', { ...limits, voice: odd })).toMatchObject({
      hasGoneIdle: 'silent > 90 s',
      hasGoneStale: 'silent > ≈168 h',
      isAbandoned: 'stale > 0 s',
    });
    expect(machineWords('otp-challenge', limits)).toMatchObject({ isLastAttempt: '5 wrong codes' });
    const capped = { ...limits, auth: { expiryHours: 24, absoluteHours: 72 } };
    expect([limits, capped].map((one) => machineWords('auth-session', one)['hasExpired'])).toEqual([
      '24 h unused',
      'expired',
    ]);
  });
});
