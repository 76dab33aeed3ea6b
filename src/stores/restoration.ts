import { randomId } from '../kernel/ids.ts';
import type { Redis } from '../redis/connection.ts';
import { allTags, tagOfSubject } from '../redis/tags.ts';
import type { Restore } from './contract.ts';
import type { Share } from './voice-registry/contract.ts';

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
