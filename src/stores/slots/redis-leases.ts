import type { Redis } from '../../redis/connection.ts';
import { allTags, tagged, tagOfSession } from '../../redis/tags.ts';
import type { NodeLeases } from './contract.ts';

/** What nobody renews or frees is forgotten after this, in milliseconds: longer than any lease. */
const KEEP_MS = 600_000;

/**
 * Leases that all nodes share, where Redis may forget: after it has lost them the limit may be exceeded until their holders have
 * renewed them. Concurrency slots need more (see `redis.ts`). Nodes say that they are alive in every tag, since a script knows only its own.
 * @param what is leased, as a prefix of keys; subjects are ids of sessions
 */
export function createRedisLeases(redis: Pick<Redis, 'run'>, what: string): NodeLeases {
  const ask = (name: string, id: string, args: readonly string[]): Promise<unknown> => {
    const tag = tagOfSession(id);
    return redis.run(tag, name, tagged(tag, `${what}:${id}`), args);
  };
  const keep = String(KEEP_MS);

  return {
    async take(id, holder, limit, leaseUntilMs, atMs) {
      return (await ask('lease', id, [String(limit), holder, String(leaseUntilMs), String(atMs), keep])) === 1;
    },

    async renew(id, holder, leaseUntilMs) {
      await ask('renew', id, [holder, String(leaseUntilMs), keep]);
    },

    async free(id, holder) {
      await ask('free', id, [holder]);
    },

    async count(id, atMs) {
      return (await ask('held', id, [String(atMs)])) as number;
    },

    async keepAlive(node, untilMs) {
      const args = [String(untilMs), keep];
      await Promise.all(allTags.map((tag) => redis.run(tag, 'alive', tagged(tag, `node:${node}`), args)));
    },
  };
}
