import { beforeEach, describe, expect, test } from 'vitest';
import { Unavailable } from '../../../src/kernel/errors.ts';
import type { MeteredCall } from '../../../src/metering/contract.ts';
import { UsageQueue } from '../../../src/metering/usage-queue.ts';
import type { CallUsage } from '../../../src/stores/ledger/contract.ts';

const call = { callId: 'call' } as MeteredCall;
const usageAt = (key: string, atMs: number) => ({ key, atMs, isEstimated: false }) as CallUsage;

let isAway: boolean;
let counted: string[];
let lost: number;
let queue: UsageQueue;

beforeEach(() => {
  isAway = true;
  counted = [];
  lost = 0;
  queue = new UsageQueue({
    async count(_call, { key }) {
      if (isAway) throw new Unavailable('database');
      counted.push(key);
    },
    onFault(error) {
      throw error;
    },
    onLost: () => (lost += 1),
    gapOf: (_call, fromMs, untilMs) => usageAt(`gap ${fromMs} to ${untilMs}`, untilMs),
  });
});

describe('Usage that waits for the database', () => {
  test('is counted in its order, and after it one gap for all that there was no room for', async () => {
    const keys = Array.from({ length: 1000 }, (_, index) => `r${index}`);
    for (const [atMs, key] of keys.entries()) queue.push(call, usageAt(key, atMs));
    for (const atMs of [2000, 2500, 3000]) queue.push(call, usageAt('more', atMs));
    expect(queue.size).toBe(1000);
    expect(lost).toBe(3);
    await expect(queue.flush()).rejects.toThrow(Unavailable);
    isAway = false;
    await queue.flush();
    expect(counted).toEqual([...keys, 'gap 2000 to 3000']);
    expect(queue.size).toBe(0);
    expect(queue.waitingSinceMs).toBeUndefined();
  });
});
