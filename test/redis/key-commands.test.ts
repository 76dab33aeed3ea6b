import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../config/config.ts';
import { randomId } from '../../src/kernel/ids.ts';
import { openKeyStores } from '../../src/cli/open-stores.ts';
import { openRedis, type Redis } from '../../src/redis/connection.ts';
import { createRedisBus } from '../../src/stores/bus/redis.ts';
import { makeDirectory } from '../database/support/places.ts';
import { reasonToSkipRedis, startRedis, type RedisService } from '../support/services/redis.ts';

const skipped = reasonToSkipRedis();

describe.skipIf(skipped !== undefined)(`The keys commands beside a service ${skipped ?? ''}`, () => {
  const place = makeDirectory();
  let service: RedisService;
  let redis: Redis;

  beforeAll(async () => {
    service = await startRedis();
    redis = openRedis({ urls: [service.url], prefix: 'another-product' });
  });
  afterAll(async () => {
    await redis.close();
    await service.stop();
    place.remove();
  });

  test('tell its nodes of a change under its own prefix', async () => {
    const onError = (error: unknown): void => {
      throw error;
    };
    const node = createRedisBus({ redis, node: randomId(), onError });
    const heard: string[] = [];
    node.subscribe(({ type }) => heard.push(type));
    await expect.poll(() => node.isConnected).toBe(true);
    const environment = {
      REDIS_URL: service.url,
      REDIS_PREFIX: 'another-product',
      DATA_DIR: join(place.path, 'data'),
    };
    const stores = await openKeyStores(readConfig(environment));
    await expect
      .poll(() => {
        stores.bus.publish({ type: 'tenants.changed' });
        return heard;
      })
      .toContain('tenants.changed');
    await stores.close();
    await node.close();
  });
});
