import { randomId } from '../../kernel/ids.ts';
import type { Redis } from '../../redis/connection.ts';
import { unavailable } from '../../redis/faults.ts';
import { tagged, tagOfSubject } from '../../redis/tags.ts';
import type { Slots } from './contract.ts';

/** A live session that must be counted. */
export interface Holder {
  readonly holder: string;
  readonly leaseUntilMs: number;
}

export interface RedisSlotsParts {
  readonly redis: Pick<Redis, 'run'>;
  /** The subject's sessions that hold a slot, from the history: asked when Redis may have lost some. */
  readonly rebuild: (subject: string) => Promise<readonly Holder[]>;
  /** Longer than any lease, in milliseconds: an untouched subject is forgotten after it. */
  readonly keepMs: number;
}

export interface RedisSlots extends Slots {
  take(subject: string, holder: string, limit: number, leaseUntilMs: number, atMs: number): Promise<boolean>;
  renew(subject: string, holder: string, leaseUntilMs: number): Promise<void>;
  free(subject: string, holder: string): Promise<void>;
  count(subject: string, atMs: number): Promise<number>;
}

/** More losses during one take than this are no accident. */
const MAX_REBUILDS = 3;
const LOST = -1;

/**
 * Concurrency slots that all nodes share. A take is answered only from a set that is known to be whole: after Redis lost it, the
 * holders are counted from the history first (see `lua/slots.ts`), so that a loss admits nobody too many.
 */
export function createRedisSlots({ redis, rebuild, keepMs }: RedisSlotsParts): RedisSlots {
  const keep = String(keepMs);
  const ask = (name: string, subject: string, args: readonly string[]): Promise<unknown> => {
    const tag = tagOfSubject(subject);
    return redis.run(tag, name, tagged(tag, `slots:${subject}`), args);
  };

  return {
    async take(subject, holder, limit, leaseUntilMs, atMs) {
      const token = randomId();
      const args = [String(limit), holder, String(leaseUntilMs), String(atMs), keep, token];
      for (let tries = 0; tries <= MAX_REBUILDS; tries += 1) {
        const answer = await ask('slot', subject, args);
        if (answer !== LOST) return answer === 1;
        // Read after the token was left: what is lost from here on takes the token along, and the adoption fails.
        const holders = await rebuild(subject);
        const leases = holders.flatMap((one) => [one.holder, String(one.leaseUntilMs)]);
        await ask('adopt', subject, [token, keep, String(holders.length), ...leases]);
      }
      throw unavailable('the slots of a subject were lost again and again');
    },

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
