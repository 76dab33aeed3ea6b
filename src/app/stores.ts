import type { Config } from '../../config/config.ts';
import type { VariableName } from '../../config/variables.ts';
import { systemClock, type Clock } from '../kernel/time.ts';
import { createInProcessStores } from '../stores/in-process.ts';
import type { ClockAgreements } from '../stores/clock/contract.ts';
import { createSharedClock } from '../stores/clock/shared-clock.ts';
import type { CommandBus, LiveStores } from '../stores/contract.ts';
import type { VoiceHistory } from '../stores/voice-history/contract.ts';
import type { Events } from '../telemetry/events.ts';
import { dueAt, longestMs, slotHolders } from '../sessions/deadlines.ts';

export interface LiveDeps {
  /** The id of this node. */
  readonly node: string;
  readonly history: VoiceHistory;
  /** Replaces the machine's clock, for tests. */
  readonly localClock?: Clock | undefined;
  readonly clockAgreements: ClockAgreements;
  /** Receives faults that cannot be returned to a caller. */
  readonly onError: (error: unknown) => void;
  readonly events: Pick<Events, 'clockStepped' | 'edgeLocal' | 'edgeShared'>;
}

/** The engine of the live stores, as operators see it. */
export interface LiveEngine {
  readonly name: string;
  /** The variable that holds its address; undefined where the engine runs in this process and no other process shares it. */
  readonly variable?: VariableName;
}

/** Which engine keeps the live stores: Redis at REDIS_URL, otherwise this process. Only this file knows the choice. It opens nothing. */
export function liveEngineOf({ redisUrls }: Config): LiveEngine {
  return redisUrls === undefined ? { name: 'in this process' } : { name: 'Redis', variable: 'REDIS_URL' };
}

/** The Redis client is a third of all code; it is imported lazily, so that installations without Redis do not load it at each start. */
const loadRedis = () => import('../stores/redis.ts');

/** The bus of `liveEngineOf(config)`, for commands. With the in-process engine, other processes do not hear them. */
export async function openCommandBus(
  { redisUrls, redisPrefix, redisDeadlineMs }: Config,
  onError: (error: unknown) => void,
): Promise<CommandBus> {
  if (redisUrls === undefined) return { publish: () => undefined, close: () => Promise.resolve() };
  const { openRedisBus } = await loadRedis();
  return openRedisBus({ urls: redisUrls, prefix: redisPrefix, deadlineMs: redisDeadlineMs }, onError);
}

/** The live stores of `liveEngineOf(config)`. */
export async function openLiveStores(config: Config, deps: LiveDeps): Promise<LiveStores> {
  const { redisUrls, redisPrefix, redisDeadlineMs, voice } = config;
  const { node, history, localClock, clockAgreements, onError, events } = deps;
  if (redisUrls === undefined) {
    if (localClock !== undefined) return createInProcessStores(dueAt(voice), localClock, onError);
    const clock = createSharedClock({ readStoreTimeMs: async () => systemClock.now(), onStep: events.clockStepped });
    await clock.start();
    return { ...createInProcessStores(dueAt(voice), clock, onError), close: () => clock.stop() };
  }
  const { openRedisStores } = await loadRedis();
  return openRedisStores({
    urls: redisUrls,
    prefix: redisPrefix,
    deadlineMs: redisDeadlineMs,
    node,
    dueAt: dueAt(voice),
    keepMs: longestMs(voice),
    localClock: localClock ?? systemClock,
    clockAgreements,
    onClockStep: events.clockStepped,
    onError,
    onEdgeLocal: events.edgeLocal,
    onEdgeShared: events.edgeShared,
    slotHolders: async (subject) => slotHolders(await history.activeOf(subject), voice),
  });
}
