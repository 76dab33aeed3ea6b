import type { AuditRow } from '../protocol/operator/audit.ts';
import type { ActLog, NewEntry } from '../stores/journal/contract.ts';
import type { Feed } from './feed.ts';

/** Acts that wait for their results at most: one whose process fails over it never gets one. */
const MAX_OPEN = 1000;

/**
 * The log of acts, which tells the feed of what was done as soon as it is known what came of it. Of what was done together the act as a whole
 * is told, and not each of its parts.
 */
export function tellActs(acts: ActLog, feed: Pick<Feed, 'isWatched' | 'tell'>): ActLog {
  const open = new Map<string, NewEntry<'act'>>();
  return {
    async append(entries) {
      await acts.append(entries);
      for (const entry of entries) if (entry.kind === 'act' && !isPart(entry)) open.set(entry.id, entry);
      for (const id of open.keys()) {
        if (open.size <= MAX_OPEN) break;
        open.delete(id);
      }
    },
    async settle(ids, result, count) {
      await acts.settle(ids, result, count);
      for (const id of ids) {
        const entry = open.get(id);
        open.delete(id);
        if (entry !== undefined && feed.isWatched) feed.tell({ kind: 'audit', row: rowOf(entry, result, count) });
      }
    },
  };
}

function isPart({ code, of }: NewEntry<'act'>): boolean {
  return (of.batchId ?? null) !== null && code !== 'sessions.end';
}

function rowOf(
  { atMs, code, of, detail, requestId }: NewEntry<'act'>,
  result: string,
  count = null as number | null,
): AuditRow {
  const { actor = '', target = '', tenantId = null, batchId = null } = of;
  const { role, reason } = detail;
  const at = new Date(atMs).toISOString();
  return { at, actor, role, action: code, target, tenantId, reason, requestId, batchId, result, count };
}
