import type { Clock, ClockStep } from '../kernel/time.ts';
import { thisNode } from '../node/this-node.ts';
import { openRedis, type Redis } from '../redis/connection.ts';
import { createRedisBus } from './bus/redis.ts';
import type { ClockAgreements } from './clock/contract.ts';
import { createSharedClock } from './clock/shared-clock.ts';
import type { CommandBus, LiveStores, Restore } from './contract.ts';
import { createRedisSlots, type Holder, createRedisLeases } from './slots/redis.ts';
import type { DueAt, Share } from './voice-registry/contract.ts';
import { createRedisVoiceRegistry } from './voice-registry/redis.ts';
import { createRedisWindows } from './windows/redis.ts';
import { randomId } from '../kernel/ids.ts';
import { allTags, tagOfSubject, tagOfSession } from '../redis/tags.ts';
import type { Promised } from '../kernel/async.ts';
import type { Recaps } from './recaps/contract.ts';

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

/** How long other nodes leave a restoration to the node that began it, counted from its latest sign of life. */
const RESTORING_MS = 30_000;
const OURS = 1;

/**
 * Checks whether Redis has lost its data (emptied, restarted, a server of a cluster replaced) and restores it, once over all nodes. To be called at
 * the start and before every sweep: while nothing is lost it costs one small call for each tag.
 * @param share the tags to check: if one of them is lost all are checked, so that one node reads the history for all that is lost
 * @returns how many tags this node restored.
 * @throws Unavailable when Redis is away, and what `restore` throws; the next call then tries again.
 */
export async function restoreWhatIsLost(redis: Pick<Redis, 'run'>, restore: Restore, share?: Share): Promise<number> {
  const token = randomId();
  const ask = (tags: readonly number[], name: string, args: readonly string[]) =>
    Promise.all(tags.map((tag) => redis.run(tag, name, 'whole', args)));

  // The token is set before the history is read: a loss after that removes the token too, and then the mark is not set.
  const lostOf = async (tags: readonly number[]): Promise<readonly number[]> => {
    const answers = await ask(tags, 'lost', [token, String(RESTORING_MS)]);
    return tags.filter((_, at) => answers[at] === OURS);
  };
  try {
    const found = await lostOf(share === undefined ? allTags : allTags.filter(share));
    if (found.length === 0) return 0;
    const mine = share === undefined ? found : await lostOf(allTags);
    const lost = new Set(mine);
    await restore(
      (subject) => lost.has(tagOfSubject(subject)),
      () => ask(mine, 'restoring', [token, String(RESTORING_MS)]),
    );
    await ask(mine, 'whole', [token]);
    return mine.length;
  } catch (error) {
    // All tags: a call that got no answer may have left the token.
    await ask(allTags, 'abandon', [token]).catch(() => undefined);
    throw error;
  }
}

/** Recaps that all nodes share: any node that opens a session's next call finds them. */
export function createRedisRecaps(redis: Pick<Redis, 'run'>): Promised<Recaps> {
  const ask = (name: string, sessionId: string, args?: readonly string[]): Promise<unknown> =>
    redis.run(tagOfSession(sessionId), name, `recap:${sessionId}`, args);

  return {
    async keep(sessionId, sealed, untilMs, atMs) {
      if (untilMs > atMs) await ask('keepRecap', sessionId, [sealed, String(untilMs - atMs)]);
    },

    // A script returns false for a missing key, which arrives as null.
    async find(sessionId) {
      return ((await ask('recap', sessionId)) as string | null) ?? undefined;
    },

    async forget(sessionId) {
      await ask('forgetRecap', sessionId);
    },
  };
}
