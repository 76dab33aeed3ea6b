import type { Promised } from '../../kernel/async.ts';
import type { Redis } from '../../redis/connection.ts';
import { tagOfSession } from '../../redis/tags.ts';
import type { Recaps } from './contract.ts';

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
