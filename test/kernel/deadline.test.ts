/* oxlint-disable unicorn/require-post-message-target-origin -- threads have no origin */
import { MessageChannel } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { deadline } from '../../src/kernel/async.ts';

/** Blocks the whole process, as a busy machine would. */
function stall(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

test('What was answered while the process stood still is in time', async () => {
  const { port1: far, port2: near } = new MessageChannel();
  // From here on the event loop looks at timers next.
  await new Promise((resolve) => setImmediate(resolve));
  const outcome = new Promise((resolve) => {
    const callOff = deadline(1, () => resolve('late'));
    near.once('message', (answer) => {
      callOff();
      resolve(answer);
    });
  });
  far.postMessage('answered');
  stall(20);
  expect(await outcome).toBe('answered');
  near.close();
});

test('What is not answered is late, once', async () => {
  let late = 0;
  await new Promise<void>((resolve) => {
    deadline(1, () => {
      late += 1;
      resolve();
    });
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(late).toBe(1);
});
