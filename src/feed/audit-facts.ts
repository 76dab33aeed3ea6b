import { iso } from '../kernel/time.ts';
import type { AuditRow } from '../protocol/operator/audit.ts';
import type { Audit, NewAuditEntry } from '../stores/audit/contract.ts';
import type { Feed } from './feed.ts';

/** Entries that wait for their results at most: one whose process fails over it never gets one. */
const MOST_OPEN = 1000;

/**
 * The audit, which tells the feed of what was done as soon as it is known what came of it. Of what was done together the act as a whole is
 * told, and not each of its parts.
 */
export function tellAudit(audit: Audit, feed: Pick<Feed, 'isWatched' | 'tell'>): Audit {
  const open = new Map<number, NewAuditEntry>();
  return {
    latest: (action, target, untilMs) => audit.latest(action, target, untilMs),
    beginnerOf: (batchId) => audit.beginnerOf(batchId),
    list: (filter, after, limit) => audit.list(filter, after, limit),
    async append(entries) {
      const ordinals = await audit.append(entries);
      for (const [index, entry] of entries.entries()) {
        const ordinal = ordinals[index];
        if (ordinal !== undefined && !isPart(entry)) open.set(ordinal, entry);
      }
      for (const ordinal of open.keys()) {
        if (open.size <= MOST_OPEN) break;
        open.delete(ordinal);
      }
      return ordinals;
    },
    async settle(ordinals, result, count) {
      await audit.settle(ordinals, result, count);
      for (const ordinal of ordinals) {
        const entry = open.get(ordinal);
        open.delete(ordinal);
        if (entry !== undefined && feed.isWatched) feed.tell({ kind: 'audit', row: rowOf(entry, result, count) });
      }
    },
  };
}

function isPart({ action, batchId }: NewAuditEntry): boolean {
  return batchId !== null && action !== 'sessions.end';
}

function rowOf({ atMs, ...entry }: NewAuditEntry, result: string, count: number | undefined): AuditRow {
  return { at: iso(atMs), ...entry, result, count: count ?? null };
}
