import type { ActResult } from '../../stores/journal/act-contract.ts';
import type { ActLog, NewEntry } from '../../stores/journal/contract.ts';

/** Acts that wait for their results at most; an act whose process crashes never gets one. */
const MAX_OPEN = 1000;

/** Is notified of each act; of a bulk act as a whole, not of its parts. */
export interface ActListener {
  /** The act is in the journal and is about to be made. */
  readonly begun: (entry: NewEntry<'act'>) => void;
  /** The result of the act is known. */
  readonly settled: (entry: NewEntry<'act'>, result: ActResult, count: number | undefined) => void;
}

/** Wraps the journal of acts so that it notifies `listener`. Every act goes through it. */
export function reportActs(acts: ActLog, { begun, settled }: ActListener): ActLog {
  const open = new Map<string, NewEntry<'act'>>();
  return {
    async append(entries) {
      await acts.append(entries);
      for (const entry of entries)
        if (entry.kind === 'act' && !isPart(entry)) {
          open.set(entry.id, entry);
          begun(entry);
        }
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
        if (entry !== undefined) settled(entry, result, count);
      }
    },
  };
}

function isPart({ code, of }: NewEntry<'act'>): boolean {
  return (of.batchId ?? null) !== null && code !== 'sessions.end';
}
