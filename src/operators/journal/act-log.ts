import type { ActResult } from '../../stores/journal/act-contract.ts';
import type { ActLog, NewEntry } from '../../stores/journal/contract.ts';

/** Acts that wait for their results at most: one whose process fails over it never gets one. */
const MAX_OPEN = 1000;

/** Hears of each act; of what was done together of the act as a whole, and not of each of its parts. */
export interface ActListener {
  /** It is in the journal, and is made next. */
  readonly begun: (entry: NewEntry<'act'>) => void;
  /** It is known what came of it. */
  readonly settled: (entry: NewEntry<'act'>, result: ActResult, count: number | undefined) => void;
}

/** The journal of acts, which tells `listener` of each: every act goes through it, whoever makes it. */
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
