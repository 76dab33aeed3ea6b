import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FrameBucket } from '../../src/channel/socket-limits.ts';

describe('a frame bucket', () => {
  it('decides as a token bucket does', () => {
    const waits = fc.array(fc.integer({ min: 0, max: 5000 }), { maxLength: 200 });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 30 }),
        fc.constantFrom(1, 20, 60, 600, 60_000),
        waits,
        (burst, perMinute, steps) => {
          const frames = new FrameBucket(burst, perMinute);
          let [bucket, at] = [0, 0];
          // In units of 1/60,000 token, so that the model needs no fractions.
          let tokens = burst * 60_000;
          for (const step of steps) {
            at += step;
            tokens = Math.min(burst * 60_000, tokens + step * perMinute);
            const next = frames.spend(bucket, at);
            expect(next !== undefined).toBe(tokens >= 60_000);
            if (next === undefined) continue;
            bucket = next;
            tokens -= 60_000;
          }
        },
      ),
      // Three tokens are spent, and the fourth comes a millisecond too early.
      { examples: [[3, 20, [0, 603, 1807, 3223, 4236, 4598, 1492, 2036, 2639, 363]]] },
    );
  });

  it('costs nobody anything when the clock is set back', () => {
    const frames = new FrameBucket(3, 60);
    let bucket: number | undefined = 0;
    for (const at of [3_600_000, 3_600_000, 3_600_000, 0, 0, 0]) {
      bucket = frames.spend(bucket, at);
      if (bucket === undefined) throw new Error(`refused at ${at}`);
    }
    expect(frames.spend(bucket, 0)).toBeUndefined();
  });

  it('counts correctly over a month of 1,000 frames a second', () => {
    const frames = new FrameBucket(10, 60_000);
    const month = 30 * 86_400_000;
    let bucket = 0;
    for (let at = month; at < month + 10_000; at += 1) {
      const next = frames.spend(bucket, at);
      if (next === undefined) throw new Error(`refused at ${at}`);
      bucket = next;
    }
  });
});
