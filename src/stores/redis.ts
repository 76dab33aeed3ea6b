import type { Clock, ClockStep } from '../kernel/time.ts';
import { thisNode } from '../node/identity.ts';
import { openRedis } from '../redis/connection.ts';
import { createRedisBus } from './bus/redis.ts';
import type { ClockAgreements } from './clock/contract.ts';
import { createSharedClock } from './clock/shared-clock.ts';
import type { CommandBus, LiveStores } from './contract.ts';
import { createRedisRecaps } from './recaps/redis.ts';
import { createRedisSlots, type Holder } from './slots/redis.ts';
import { createRedisLeases } from './slots/redis-leases.ts';
import { restoreWhatIsLost } from './restoration.ts';
import type { DueAt } from './voice-registry/contract.ts';
import { createRedisVoiceRegistry } from './voice-registry/redis.ts';
import { createRedisWindows } from './windows/redis.ts';

export interface RedisStoresOptions {
  /** REDIS_URL. */
  readonly urls: readonly string[];
  /** REDIS_PREFIX. */
  readonly prefix: string;
  /** REDIS_DEADLINE_MS. */
  readonly deadlineMs: number;
  /** The id of this node. */
  readonly node: string;
  readonly dueAt: DueAt;
  /** Longer than the time to any deadline or end of a lease, in milliseconds. */
  readonly keepMs: number;
  /** The subject's sessions that hold a slot, from the history. */
  readonly slotHolders: (subject: string) => Promise<readonly Holder[]>;
  readonly localClock: Clock;
  readonly clockAgreements: ClockAgreements;
  readonly onClockStep: (step: ClockStep) => void;
  /** Gets errors that cannot be reported to any caller. */
  readonly onError: (error: unknown) => void;
  /** Called once in an outage, with the reason, when edge limits are only counted in this process. */
  readonly onEdgeLocal: (reason: unknown) => void;
  /** Called when they are shared again. */
  readonly onEdgeShared: () => void;
}

/** Only a bus, for commands; it uses Redis as soon as Redis is available. */
export function openRedisBus(
  options: Pick<RedisStoresOptions, 'urls' | 'prefix' | 'deadlineMs'>,
  onError: (error: unknown) => void,
): CommandBus {
  const redis = openRedis(options);
  const bus = createRedisBus({ redis, node: thisNode.id, onError });
  return {
    publish: (message) => bus.publish(message),
    async close() {
      await bus.close();
      await redis.close();
    },
  };
}

/** The live stores that all nodes share. Resolves even when Redis is away, and uses it as soon as it is available. */
export async function openRedisStores(options: RedisStoresOptions): Promise<LiveStores> {
  const { dueAt, keepMs, slotHolders, localClock, clockAgreements, onClockStep, onError, onEdgeLocal, onEdgeShared } =
    options;
  const redis = openRedis(options);
  const clock = createSharedClock({
    readStoreTimeMs: () => redis.timeMs(),
    agreements: clockAgreements,
    local: localClock,
    onStep: onClockStep,
    onError,
  });
  await clock.start();
  const bus = createRedisBus({ redis, node: options.node, onError });
  return {
    registry: createRedisVoiceRegistry({ redis, dueAt, keepMs }),
    slots: createRedisSlots({ redis, rebuild: slotHolders, keepMs }),
    sockets: createRedisLeases(redis, 'sockets'),
    windows: createRedisWindows({ redis, onLocal: onEdgeLocal, onShared: onEdgeShared }),
    bus,
    recaps: createRedisRecaps(redis),
    clock,
    async restoreWhatIsLost(restore, share) {
      if ((await restoreWhatIsLost(redis, restore, share)) > 0) bus.noteLoss();
    },
    onLost: (listen) => redis.onLost(listen),
    health: redis.health,
    probe: () => redis.probe(),
    async ping() {
      await Promise.all([redis.probe(), redis.probeChannels()]);
    },
    async close() {
      await clock.stop();
      await bus.close();
      await redis.close();
    },
  };
}
