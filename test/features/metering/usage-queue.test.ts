import { expect, test } from 'vitest';
import { Unavailable } from '../../../src/kernel/errors.ts';
import type { MeteredCall } from '../../../src/metering/contract.ts';
import { UsageQueue } from '../../../src/metering/usage-queue.ts';
import type { CallUsage } from '../../../src/stores/ledger/contract.ts';

const call = { callId: 'call_1' } as MeteredCall;
const usage = (key: string): CallUsage => ({ key, atMs: 1 }) as CallUsage;

test('Of more usage than there is room for while nothing is counted, the first 1,000 entries are counted later, in order', async () => {
  let isAway = true;
  const counted: string[] = [];
  const lost: string[] = [];
  const faults: unknown[] = [];
  const queue = new UsageQueue({
    count: async (_call, { key }) => {
      if (isAway) throw new Unavailable('database');
      counted.push(key);
    },
    onFault: (error) => faults.push(error),
    onLost: (callId) => lost.push(callId),
  });
  const keys = Array.from({ length: 1002 }, (_, index) => `r${index}`);
  for (const key of keys) queue.push(call, usage(key));
  await queue.settled(call.callId);
  expect([queue.size, lost]).toEqual([1000, [call.callId, call.callId]]);
  isAway = false;
  await queue.flush();
  expect(counted).toEqual(keys.slice(0, 1000));
  expect([queue.size, faults]).toEqual([0, []]);
});
