import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { randomId } from '../../src/kernel/ids.ts';
import { openRedis, type Redis } from '../../src/redis/connection.ts';
import { createRedisBus, type RedisBus } from '../../src/stores/bus/redis.ts';
import { reasonToSkipRedis, startRedis, type RedisService } from '../support/services/redis.ts';

const skipped = reasonToSkipRedis();

describe.skipIf(skipped !== undefined)(`The bus of two nodes ${skipped ?? ''}`, () => {
  let service: RedisService;
  const opened: Redis[] = [];
  const buses: RedisBus[] = [];
  const faults: unknown[] = [];

  function node(change: (redis: Redis) => Pick<Redis, 'publish' | 'listen'> = (redis) => redis): RedisBus {
    const redis = openRedis({ urls: service.urls, prefix: 'switchboard', deadlineMs: 10_000 });
    const bus = createRedisBus({ redis: change(redis), node: randomId(), onError: (error) => faults.push(error) });
    opened.push(redis);
    buses.push(bus);
    return bus;
  }

  beforeAll(async () => {
    service = await startRedis();
  });
  afterAll(async () => {
    service.thaw();
    for (const bus of buses) await bus.close();
    for (const redis of opened) await redis.close();
    await service.stop();
  });

  test('tells the others of a gap when one of them could not speak and can again', async () => {
    const state = { isMute: true };
    const mute = node((redis) => ({
      publish: (channel, text) => (state.isMute ? Promise.reject(new Error('cut off')) : redis.publish(channel, text)),
      listen: (...args) => redis.listen(...args),
    }));
    const other = node();
    for (const bus of [mute, other]) await expect.poll(() => bus.isConnected).toBe(true);
    let gaps = 0;
    other.onGap(() => (gaps += 1));
    mute.publish({ type: 'tenants.changed' });
    await expect.poll(() => faults).toHaveLength(1);
    expect(gaps).toBe(0);
    state.isMute = false;
    await expect.poll(() => gaps).toBe(1);
  });

  test('knows that it does not hear while Redis is frozen, and tells of the gap when it is back', async () => {
    const bus = node();
    await expect.poll(() => bus.isConnected).toBe(true);
    let gaps = 0;
    bus.onGap(() => (gaps += 1));
    service.freeze();
    await expect.poll(() => bus.isConnected).toBe(false);
    expect(gaps).toBe(0);
    service.thaw();
    await expect.poll(() => gaps).toBe(1);
    expect(bus.isConnected).toBe(true);
  });
});
