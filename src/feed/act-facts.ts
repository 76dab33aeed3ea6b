import type { NewEntry } from '../stores/journal/contract.ts';
import type { Feed } from './feed.ts';

/** Tells the feed what operators did, and what came of it. */
export function tellActs(
  feed: Pick<Feed, 'isWatched' | 'tell'>,
): (entry: NewEntry<'act'>, result: string, count: number | undefined) => void {
  return ({ atMs, code, of, detail, requestId }, result, count) => {
    if (!feed.isWatched) return;
    const { actor = '', target = '', tenantId = null, batchId = null } = of;
    const { role, reason } = detail;
    const row = { at: new Date(atMs).toISOString(), actor, role, action: code, target, tenantId, reason, requestId };
    feed.tell({ kind: 'audit', row: { ...row, batchId, result, count: count ?? null } });
  };
}
