import { randomId } from '../kernel/ids.ts';
import type { Redis } from '../redis/connection.ts';
import { allTags, tagged, tagOfSubject } from '../redis/tags.ts';
import type { Restore } from './contract.ts';

/** How long the others leave a restoration to the node that began it. */
const RESTORING_MS = 30_000;
const OURS = 1;

/**
 * Sees whether Redis has lost what it held (emptied, started anew, a server of a cluster replaced) and restores it, once over all
 * nodes. To be called at the start and before every sweep: while nothing is lost it is one small call.
 * @returns how many tags this node restored.
 * @throws Unavailable when Redis is away, and what `restore` throws; then the next call tries again.
 */
export async function restoreWhatIsLost(redis: Pick<Redis, 'run'>, restore: Restore): Promise<number> {
  const token = randomId();
  const ask = (tags: readonly number[], name: string, args: readonly string[]) =>
    Promise.all(tags.map((tag) => redis.run(tag, name, tagged(tag, 'whole'), args)));

  // The token is there before the history is read: what is lost from here on takes it along, and the mark is not set.
  const answers = await ask(allTags, 'lost', [token, String(RESTORING_MS)]);
  const mine = allTags.filter((tag) => answers[tag] === OURS);
  if (mine.length === 0) return 0;
  const lost = new Set(mine);
  try {
    await restore((subject) => lost.has(tagOfSubject(subject)));
  } catch (error) {
    await ask(mine, 'abandon', [token]).catch(() => undefined);
    throw error;
  }
  await ask(mine, 'whole', [token]);
  return mine.length;
}
