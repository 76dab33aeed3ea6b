import { setTimeout } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { createLoopDelay } from '../../../src/operators/live/this-process.ts';
import { soon } from '../../support/soon.ts';

const HELD_MS = 200;

function holdLoop(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, HELD_MS);
}

test('An event loop that was held up is told as late, once', async () => {
  const loop = createLoopDelay();
  await vi.waitFor(async () => {
    // The monitor's timer is due within each pause, so it runs before and after the loop is held up; a busy machine only adds delay.
    await setTimeout(50);
    holdLoop();
    await setTimeout(50);
    expect(loop.p99Ms()).toBeGreaterThan(HELD_MS / 2);
    expect(loop.p99Ms()).toBe(0);
  }, soon);
});
