import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSharedClock } from '../../src/kernel/shared-clock.ts';

const MINUTE_MS = 60_000;

/** A world with one true time and a machine whose clock is wrong. */
function world(wrongMs: number) {
  const state = { trueMs: 1_900_000_000_000, wrongMs, thereMs: 1, backMs: 1, isAway: false };
  const clock = createSharedClock({
    local: { now: () => state.trueMs + state.wrongMs },
    monotonic: () => state.trueMs - 1_800_000_000_000,
    async readStoreTimeMs() {
      if (state.isAway) throw new Error('away');
      state.trueMs += state.thereMs;
      const answer = state.trueMs;
      await Promise.resolve();
      state.trueMs += state.backMs;
      return answer;
    },
  });
  return { state, clock, errorMs: () => clock.now() - state.trueMs };
}

describe('the shared clock', () => {
  test('nodes whose clocks differ by minutes agree', async () => {
    for (const wrongMs of [-7 * MINUTE_MS, 0, 3 * MINUTE_MS]) {
      const { clock, errorMs } = world(wrongMs);
      await clock.sync();
      expect(Math.abs(errorMs())).toBeLessThanOrEqual(1);
    }
  });

  test('of late measurements the one with the shortest round trip counts', async () => {
    const { state, clock, errorMs } = world(MINUTE_MS);
    await clock.sync();
    state.thereMs = 200;
    await clock.sync();
    expect(Math.abs(errorMs())).toBeLessThanOrEqual(1);
  });

  test('the error is never more than half of a round trip', async () => {
    const ms = fc.integer({ min: 0, max: 300 });
    const wrong = fc.integer({ min: -10 * MINUTE_MS, max: 10 * MINUTE_MS });
    await fc.assert(
      fc.asyncProperty(
        wrong,
        fc.array(fc.record({ thereMs: ms, backMs: ms }), { minLength: 1 }),
        async (wrongMs, trips) => {
          const { state, clock, errorMs } = world(wrongMs);
          for (const trip of trips) {
            Object.assign(state, trip);
            await clock.sync();
          }
          const longest = Math.max(...trips.map(({ thereMs, backMs }) => thereMs + backMs));
          expect(Math.abs(errorMs())).toBeLessThanOrEqual(longest / 2 + 1);
        },
      ),
    );
  });

  test('while the store is away the last difference goes on', async () => {
    const { state, clock, errorMs } = world(5 * MINUTE_MS);
    await clock.sync();
    state.isAway = true;
    await expect(clock.sync()).rejects.toThrow('away');
    state.trueMs += 10 * MINUTE_MS;
    expect(Math.abs(errorMs())).toBeLessThanOrEqual(1);
  });

  test('a step of the local clock changes nothing, also while the store is away', async () => {
    const { state, clock, errorMs } = world(0);
    await clock.sync();
    state.isAway = true;
    for (const step of [MINUTE_MS, -5 * MINUTE_MS]) {
      state.wrongMs += step;
      expect(Math.abs(errorMs())).toBeLessThanOrEqual(1);
    }
  });

  test('a small correction never turns time back, a large one does', async () => {
    const { state, clock, errorMs } = world(0);
    const before = clock.now();
    state.wrongMs = 200;
    const ahead = clock.now();
    expect(ahead).toBe(before + 200);
    await clock.sync();
    expect(clock.now()).toBe(ahead);
    state.trueMs += 300;
    expect(Math.abs(errorMs())).toBeLessThanOrEqual(1);

    const far = world(MINUTE_MS);
    far.clock.now();
    await far.clock.sync();
    expect(Math.abs(far.errorMs())).toBeLessThanOrEqual(1);
  });

  test('it starts without the store, too', async () => {
    const { state, clock } = world(0);
    state.isAway = true;
    await clock.start();
    expect(clock.now()).toBe(state.trueMs);
    await clock.stop();
  });
});
