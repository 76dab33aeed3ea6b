import type { ActResult } from '../../stores/journal/act-contract.ts';
import type { ActLog, NewEntry } from '../../stores/journal/contract.ts';

/** Acts that wait for their results at most: one whose process fails over it never gets one. */
const MAX_OPEN = 1000;

/**
 * The log of acts, which tells of each as soon as it is known what came of it. Of what was done together the act as a whole is told, and not
 * each of its parts.
 */
export function tellResults(
  acts: ActLog,
  tell: (entry: NewEntry<'act'>, result: ActResult, count: number | undefined) => void,
): ActLog {
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
        if (entry !== undefined) tell(entry, result, count);
      }
    },
  };
}

function isPart({ code, of }: NewEntry<'act'>): boolean {
  return (of.batchId ?? null) !== null && code !== 'sessions.end';
}
