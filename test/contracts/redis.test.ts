import { afterAll, beforeAll, describe } from 'vitest';
import { randomId } from '../../src/kernel/ids.ts';
import { openRedis, type Redis } from '../../src/redis/connection.ts';
import { createRedisBus } from '../../src/stores/bus/redis.ts';
import { createRedisRecaps, restoreWhatIsLost } from '../../src/stores/redis.ts';
import { createRedisSlots, createRedisLeases } from '../../src/stores/slots/redis.ts';
import { createRedisVoiceRegistry } from '../../src/stores/voice-registry/redis.ts';
import { createRedisWindows } from '../../src/stores/windows/redis.ts';
import { reasonToSkipRedis, startRedis, startRedisCluster, type RedisService } from '../support/services/redis.ts';
import { atEach } from '../redis/support.ts';
import { busContract } from './bus.ts';
import { recapsContract } from './recaps.ts';
import { leasesContract } from './slots.ts';
import type { Nodes } from './support.ts';
import { voiceRegistryContract } from './voice-registry.ts';
import { windowsContract } from './windows.ts';

const HOUR_MS = 3_600_000;
const skipped = reasonToSkipRedis();

describe.skipIf(skipped !== undefined)(`with Redis ${skipped ?? ''}`, () => {
  redisContracts('one server', startRedis);
  redisContracts('a cluster of three', startRedisCluster);
});

function redisContracts(name: string, start: () => Promise<RedisService>): void {
  describe(`on ${name}`, () => {
    let service: RedisService;

    beforeAll(async () => {
      service = await start();
    });

    afterAll(() => service.stop());

    /** Two nodes with one connection each. */
    async function two<T>(make: (redis: Redis) => T, end: (engine: T) => unknown = () => undefined): Promise<Nodes<T>> {
      await service.flush();
      // On a busy test machine Redis is slow, not away.
      const open = () => openRedis({ urls: service.urls, prefix: 'switchboard', deadlineMs: 10_000 });
      const connections = [open(), open()] as const;
      // Nothing is claimed from a Redis whose losses have not been restored.
      await restoreWhatIsLost(connections[0], () => Promise.resolve());
      const nodes = [make(connections[0]), make(connections[1])] as const;
      return {
        nodes,
        async close() {
          for (const node of nodes) await end(node);
          await Promise.all(connections.map((redis) => redis.close()));
        },
      };
    }

    voiceRegistryContract(name, (dueAt) => two((redis) => createRedisVoiceRegistry({ redis, dueAt, keepMs: HOUR_MS })));
    leasesContract(`concurrency slots, ${name}`, () =>
      two((redis) => createRedisSlots({ redis, keepMs: HOUR_MS, rebuild: () => Promise.resolve([]) })),
    );
    leasesContract(`sockets, ${name}`, () => two((redis) => createRedisLeases(redis, 'sockets')));
    recapsContract(name, () => two((redis) => createRedisRecaps(redis)));
    windowsContract(name, () => two((redis) => createRedisWindows({ redis })));
    busContract(
      name,
      () =>
        two(
          (redis) => createRedisBus({ redis, node: randomId(), onError: () => undefined }),
          (bus) => bus.close(),
        ),
      () => atEach(service, ['CLIENT', 'KILL', 'TYPE', 'pubsub']),
    );
  });
}
