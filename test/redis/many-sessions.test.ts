import { describe, expect, test } from 'vitest';
import { FollowedInRedis } from '../../src/stores/bus/followed.ts';
import { createRedisVoiceRegistry, recentThatFit } from '../../src/stores/voice-registry/redis.ts';
import type { UncountedRequest } from '../../src/stores/windows/contract.ts';
import { voiceRecord } from '../contracts/support.ts';

const MANY = 60_000;
const SECOND = 1000;

/** Counts what is asked of Redis, which agrees to everything. */
function obliging() {
  const asked = new Map<string, number>();
  const run = (_tag: number, name: string): Promise<unknown> => {
    asked.set(name, (asked.get(name) ?? 0) + 1);
    return Promise.resolve(name === 'counted' ? -1 : 1);
  };
  return { asked, run };
}

describe('A node with very many sessions', () => {
  test('counts and saves each heartbeat in one operation, though clients take turns', async () => {
    const redis = obliging();
    let nowMs = 0;
    const registry = createRedisVoiceRegistry({ redis, dueAt: () => 0, keepMs: 1, now: () => nowMs });
    const sessions = Array.from({ length: MANY }, (_, n) => voiceRecord({ id: `s:${n}`, subject: 'one' }));
    for (const session of sessions) await registry.insert(session);
    const request: UncountedRequest = {
      key: 'window',
      limit: 9,
      toCount: (taken) => ({ allowed: true, limit: 9, remaining: 9 - taken, resetAtMs: 0 }),
    };
    let saved = 0;
    for (let round = 1; round < 3; round += 1)
      for (const { id } of sessions) {
        nowMs += (60 * SECOND) / MANY;
        const record = registry.recall(id);
        const next = record && { ...record, version: round + 1 };
        if ((next && (await registry.saveCounted?.(next, round, 0, request)))?.isSaved === true) saved += 1;
      }
    expect(saved).toBe(2 * MANY);
    expect(Object.fromEntries(redis.asked)).toEqual({ insert: MANY, counted: 2 * MANY });
  });

  test('forgets sessions of which it has heard nothing for five minutes', async () => {
    let nowMs = 0;
    const registry = createRedisVoiceRegistry({ redis: obliging(), dueAt: () => 0, keepMs: 1, now: () => nowMs });
    const session = voiceRecord();
    await registry.insert(session);
    for (let n = 0; n < 2; n += 1) {
      nowMs += 150 * SECOND;
      await registry.insert(voiceRecord());
    }
    expect(registry.recall(session.id)).toBeUndefined();
  });

  test('remembers as many as a quarter of its heap holds, but 50,000 at least', () => {
    expect(recentThatFit(2 ** 31)).toBe(2 ** 19);
    expect(recentThatFit(2 ** 27)).toBe(50_000);
  });

  test('renews what it follows once in two heartbeats, and long before a node of an earlier build would let it expire', async () => {
    let nowMs = 0;
    const renewedMs = new Map<string, number>();
    let asked = 0;
    let longestMs = 0;
    const run = (_tag: number, _name: string, key: string): Promise<unknown> => {
      asked += 1;
      longestMs = Math.max(longestMs, nowMs - (renewedMs.get(key) ?? nowMs));
      renewedMs.set(key, nowMs);
      return Promise.resolve(1);
    };
    const followed = new FollowedInRedis({ redis: { run }, node: 'here', now: () => nowMs });
    const sessions = 2000;
    for (let n = 0; n < sessions; n += 1) followed.add(`s:${n}`);
    const minutes = 15;
    for (; nowMs < minutes * 60 * SECOND; nowMs += SECOND) await followed.renew();
    expect(renewedMs.size).toBe(sessions);
    expect(asked / sessions).toBeLessThanOrEqual(1 + (minutes * 60) / 90);
    expect(longestMs).toBeLessThan(120 * SECOND);
  });
});
