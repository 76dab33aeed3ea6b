import type { Promised } from '../../kernel/async.ts';
import { randomId } from '../../kernel/ids.ts';
import { keepNewest } from '../../kernel/collections.ts';
import type { Redis } from '../../redis/connection.ts';
import { unavailable } from '../../redis/faults.ts';
import { tagOfSubject, allTags, tagOfSession } from '../../redis/tags.ts';
import type { Slots, Leases, NodeLeases } from './contract.ts';

/** A live session that must be counted. */
export interface Holder {
  readonly holder: string;
  readonly leaseUntilMs: number;
}

export interface RedisSlotsDeps {
  readonly redis: Pick<Redis, 'run'>;
  /** The subject's sessions that hold a slot, from the history: asked when Redis may have lost some. */
  readonly rebuild: (subject: string) => Promise<readonly Holder[]>;
  /** The registry's `keepMs`: its sweep keeps the slots of live sessions from being forgotten. */
  readonly keepMs: number;
}

/** More losses during one take than this are not chance. */
const MAX_REBUILDS = 3;
const LOST = -1;
const REFUSED = 0;
/** How many unconfirmed takes this node remembers; beyond that the oldest are forgotten and cannot be confirmed. */
const MAX_UNCONFIRMED = 10_000;

/**
 * Concurrency slots that all nodes share. A take is answered only from a set that is known to be complete: after Redis lost it, the holders are first
 * counted from the history (see `src/redis/lua/slots.ts`). A session that Redis lost before it was in the history is caught by `confirm`. So a loss
 * never lets too many in.
 */
export function createRedisSlots({ redis, rebuild, keepMs }: RedisSlotsDeps): Promised<Slots> {
  const keep = String(keepMs);
  /** The epoch in which each holder was admitted. */
  const epochs = new Map<string, string>();
  const ask = (name: string, subject: string, args: readonly string[]): Promise<unknown> =>
    redis.run(tagOfSubject(subject), name, `slots:${subject}`, args);

  function admitted(holder: string, epoch: string): boolean {
    keepNewest(epochs.set(holder, epoch), MAX_UNCONFIRMED);
    return true;
  }

  const leases = leasesBy(ask, keep);
  return {
    ...leases,

    async take(subject, holder, limit, leaseUntilMs, atMs) {
      const token = randomId();
      const args = [String(limit), holder, String(leaseUntilMs), String(atMs), keep, token];
      for (let tries = 0; tries <= MAX_REBUILDS; tries += 1) {
        const answer = await ask('slot', subject, args);
        if (answer === REFUSED) return false;
        if (answer !== LOST) return admitted(holder, answer as string);
        // Read after the token was set: a loss after that removes the token too, and the adoption fails.
        const holders = await rebuild(subject);
        const ends = holders.flatMap((one) => [one.holder, String(one.leaseUntilMs)]);
        await ask('adopt', subject, [token, keep, String(holders.length), ...ends]);
      }
      throw unavailable('the slots of a subject were lost again and again');
    },

    async confirm(subject, holder, leaseUntilMs) {
      const epoch = epochs.get(holder);
      epochs.delete(holder);
      return epoch !== undefined && (await ask('confirm', subject, [holder, String(leaseUntilMs), keep, epoch])) === 1;
    },

    free(subject, holder) {
      epochs.delete(holder);
      return leases.free(subject, holder);
    },
  };
}

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
function leasesBy(
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
