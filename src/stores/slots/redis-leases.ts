import type { Redis } from '../../redis/connection.ts';
import { allTags, tagOfSession } from '../../redis/tags.ts';
import type { Promised } from '../../kernel/async.ts';
import type { Leases, NodeLeases } from './contract.ts';

/** What is neither renewed nor freed expires after this, in milliseconds: longer than any lease. */
const KEEP_MS = 600_000;

/**
 * Leases that all nodes share, for uses in which Redis may forget: after a loss the limit may be exceeded until the holders have renewed their
 * leases. Concurrency slots need more (see `redis.ts`). Nodes announce in every tag that they are alive, since a script sees only its own.
 * @param what is leased, as a prefix of keys; subjects are session ids
 */
export function createRedisLeases(redis: Pick<Redis, 'run'>, what: string): NodeLeases {
  const ask = (name: string, id: string, args: readonly string[]): Promise<unknown> =>
    redis.run(tagOfSession(id), name, `${what}:${id}`, args);
  const keep = String(KEEP_MS);

  return {
    ...leasesBy(ask, keep),

    async take(id, holder, limit, leaseUntilMs, atMs) {
      return (await ask('lease', id, [String(limit), holder, String(leaseUntilMs), String(atMs), keep])) === 1;
    },

    async keepAlive(node, untilMs) {
      const args = [String(untilMs), keep];
      await Promise.all(allTags.map((tag) => redis.run(tag, 'alive', `node:${node}`, args)));
    },
  };
}

/**
 * What every set of leases does in the same way.
 * @param ask runs an operation on the leases of a subject
 * @param keep how long a set is kept that nobody touches, in milliseconds
 */
export function leasesBy(
  ask: (name: string, subject: string, args: readonly string[]) => Promise<unknown>,
  keep: string,
): Promised<Omit<Leases, 'take'>> {
  return {
    async renew(subject, holder, leaseUntilMs) {
      await ask('renew', subject, [holder, String(leaseUntilMs), keep]);
    },

    async free(subject, holder) {
      await ask('free', subject, [holder]);
    },

    async count(subject, atMs) {
      return (await ask('held', subject, [String(atMs)])) as number;
    },
  };
}
