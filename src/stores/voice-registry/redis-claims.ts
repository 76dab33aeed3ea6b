import type { Redis } from '../../redis/connection.ts';
import { allTags, tagged } from '../../redis/tags.ts';

export interface Claim {
  readonly atMs: number;
  readonly limit: number;
  readonly leaseMs: number;
  readonly keepMs: number;
}

interface DueTag {
  readonly tag: number;
  readonly count: number;
}

/**
 * Claims what is due, over all tags: first each tag tells how many may be due (mostly none: one small call), then as many are claimed
 * as were asked for. It begins anywhere, so that nodes that sweep at once do not meet at the same tag.
 */
export async function claimDue(redis: Pick<Redis, 'run'>, claim: Claim): Promise<string[]> {
  const claimed: string[] = [];
  let waiting = claim.limit > 0 ? await dueTags(redis, String(claim.atMs)) : [];
  while (waiting.length > 0 && claimed.length < claim.limit) {
    const now: Promise<unknown>[] = [];
    let wanted = claim.limit - claimed.length;
    for (const { tag, count } of waiting) {
      if (wanted === 0) break;
      const share = Math.min(count, wanted);
      wanted -= share;
      now.push(claimOfTag(redis, tag, share, claim));
    }
    claimed.push(...((await Promise.all(now)) as string[][]).flat());
    waiting = waiting.slice(now.length);
  }
  return claimed;
}

async function dueTags(redis: Pick<Redis, 'run'>, at: string): Promise<DueTag[]> {
  const counts = await Promise.all(allTags.map((tag) => redis.run(tag, 'due', tagged(tag, 'due'), [at])));
  const due = allTags.map((tag) => ({ tag, count: counts[tag] as number })).filter(({ count }) => count > 0);
  const begin = Math.floor(Math.random() * due.length);
  return [...due.slice(begin), ...due.slice(0, begin)];
}

function claimOfTag(redis: Pick<Redis, 'run'>, tag: number, share: number, claim: Claim): Promise<unknown> {
  const { atMs, leaseMs, keepMs } = claim;
  const args = [String(atMs), String(atMs + leaseMs), String(share), String(keepMs)];
  return redis.run(tag, 'claim', tagged(tag, 'due'), args);
}
