import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { Unavailable } from '../../src/kernel/errors.ts';
import type { Promised } from '../../src/kernel/async.ts';
import { randomId } from '../../src/kernel/ids.ts';
import { openRedis, type Redis } from '../../src/redis/connection.ts';
import { createRedisBus, type RedisBus } from '../../src/stores/bus/redis.ts';
import type { Slots } from '../../src/stores/slots/contract.ts';
import { createRedisSlots } from '../../src/stores/slots/redis.ts';
import type { VoiceRegistry } from '../../src/stores/voice-registry/contract.ts';
import { createRedisVoiceRegistry } from '../../src/stores/voice-registry/redis.ts';
import type { Windows } from '../../src/stores/windows/contract.ts';
import { createRedisWindows } from '../../src/stores/windows/redis.ts';
import { DAY_BEGIN, voiceRecord } from '../contracts/support.ts';
import { PATIENT_MS } from '../support/soon.ts';
import { faultOf, recoveryOf } from './support.ts';

const HOUR_MS = 3_600_000;

/** One node's stores on a Redis. */
export interface Node {
  readonly redis: Redis;
  readonly registry: Promised<VoiceRegistry>;
  readonly slots: Promised<Slots>;
  readonly windows: Promised<Windows>;
  readonly bus: RedisBus;
  /** What the edge windows reported when outages began and ended. */
  readonly told: string[];
  close(): Promise<void>;
}

export const PATIENT = { deadlineMs: PATIENT_MS };

export function openNode(urls: readonly string[], options: { maxPending?: number; deadlineMs?: number } = {}): Node {
  const redis = openRedis({ urls, prefix: 'switchboard', ...options });
  const told: string[] = [];
  const bus = createRedisBus({ redis, node: randomId(), onError: () => undefined });
  return {
    redis,
    told,
    bus,
    registry: createRedisVoiceRegistry({ redis, dueAt: ({ lastActivityAtMs }) => lastActivityAtMs, keepMs: HOUR_MS }),
    slots: createRedisSlots({ redis, keepMs: HOUR_MS, rebuild: () => Promise.resolve([]) }),
    windows: createRedisWindows({ redis, onLocal: () => told.push('local'), onShared: () => told.push('shared') }),
    async close() {
      await bus.close();
      await redis.close();
    },
  };
}

/** One call of each kind that is refused when Redis is away. */
export function calls({ registry, slots, redis }: Node): (() => Promise<unknown>)[] {
  const record = voiceRecord();
  return [
    () => registry.load(record.id),
    () => registry.insert(voiceRecord()),
    () => registry.save(record, 1),
    () => registry.claimDue(0, 10, 1000),
    () => slots.take(randomId(), 'a', 1, DAY_BEGIN + 1000, DAY_BEGIN),
    () => slots.count(randomId(), DAY_BEGIN),
    () => redis.probe(),
    () => redis.timeMs(),
  ];
}

/** Expects every call to be served in the end; whether at the first try depends on the machine. */
export async function expectServed(node: Node): Promise<void> {
  for (const call of calls(node)) await recoveryOf(call);
}

/** Expects every call of a patient node to be served at the first try. */
export async function expectServedAtOnce(node: Node): Promise<void> {
  for (const call of calls(node)) expect(await faultOf(call)).toBeUndefined();
}

/** Expects every call to be refused while Redis stays as it is: concurrent ones as well as later ones. */
export async function expectRefused(node: Node): Promise<void> {
  for (let round = 0; round < 2; round += 1)
    for (const fault of await Promise.all(calls(node).map(faultOf))) expect(fault).toBeInstanceOf(Unavailable);
}

export async function expectRecovery(node: Node): Promise<void> {
  await Promise.all(calls(node).map((call) => recoveryOf(call)));
  await expectServed(node);
}

/** Starts callers that never stop asking. @returns a function that stops them and resolves when all have their answers */
export function keepAsking(node: Node): () => Promise<void> {
  const over = new AbortController();
  const callers = Array.from({ length: 16 }, async (_, caller) => {
    for (let n = caller; !over.signal.aborted; n += 1) {
      const all = calls(node);
      const fault = await faultOf(all[n % all.length] as () => Promise<unknown>);
      if (fault !== undefined && !(fault instanceof Unavailable)) throw fault;
      await pause(5);
    }
  });
  return async () => {
    over.abort();
    await Promise.all(callers);
  };
}
