import { setTimeout } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { createLoopDelay } from '../../../src/operator/loop-delay.ts';
import { soon } from '../../support/soon.ts';

const HELD_MS = 200;

function holdLoop(): void {
  const until = performance.now() + HELD_MS;
  while (performance.now() < until);
}

test('An event loop that was held up is told as late, once', async () => {
  const loop = createLoopDelay();
  await vi.waitFor(async () => {
    // The monitor looks at the clock every 20 ms: it must do so before the loop is held up, and after.
    await setTimeout(50);
    holdLoop();
    await setTimeout(50);
    expect(loop.p99Ms()).toBeGreaterThan(HELD_MS / 2);
    expect(loop.p99Ms()).toBe(0);
  }, soon);
});
