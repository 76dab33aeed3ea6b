import { ifAway } from '../../kernel/errors.ts';
import { settleAll } from '../../kernel/async.ts';
import type { ActAction, ActResult, ActRole } from '../../stores/journal/act-contract.ts';
import { audited, mayHaveHappened, newAct, type ActLog, type NewEntry } from '../../stores/journal/contract.ts';
import type { OperatorServices } from '../services.ts';

/** How many changes of one act run at once. */
const AT_ONCE = 50;

/** Who asks for a change, in which role, when and why. */
export interface ActBy {
  /** An operator's e-mail address, or `service:` and what distinguishes one token from another. */
  readonly actor: string;
  readonly role: ActRole;
  readonly atMs: number;
  readonly requestId: string;
  readonly reason: string | null;
}

/** What is changed. */
export interface Act {
  readonly action: ActAction;
  readonly target: string;
  /** The tenant that is changed; null for the installation. */
  readonly tenantId: string | null;
  /** The same for all parts of one bulk act. */
  readonly batchId?: string;
  /** For a part of a bulk act: whether that act as a whole concerns one tenant or the installation. */
  readonly partOf?: 'tenant' | 'installation';
  /** For a whisper: a keyed hash of its text. */
  readonly textHash?: string;
}

/**
 * Makes a change that is logged and kept in the journal: see `audited`.
 * @param resultOf the result of the change, null where it is unknown; by default `done`
 * @throws what `change` throws, and Unavailable when the journal cannot be written: then nothing is changed
 */
export async function act<T>(
  what: Act,
  by: ActBy,
  { core: { journal } }: Pick<OperatorServices, 'core'>,
  change: () => T | Promise<T>,
  resultOf: (changed: Awaited<T>) => ActResult | null = () => 'done',
): Promise<Awaited<T>> {
  return audited(journal.acts, newAct({ ...by, ...what }), change, resultOf);
}

/** One of many changes that are made as one act. */
interface ActPart {
  readonly act: Act;
  readonly change: () => Promise<ActResult>;
}

/** How many changes of one act were made, and how many were not, or may not have been. */
export interface ManyChanged {
  readonly done: number;
  readonly failed: number;
  /** Whether the journal has all results. */
  readonly isAudited: boolean;
}

/**
 * Makes many changes as one act: the act as a whole and each of its parts are saved before the first change, and the results of all after
 * the last. A change that fails does not stop the others; its fault is logged.
 * @throws Unavailable when the journal cannot be written: then nothing is changed
 */
export async function actOnMany(
  whole: Act & { readonly batchId: string },
  parts: readonly ActPart[],
  by: ActBy,
  { core }: Pick<OperatorServices, 'core'>,
): Promise<ManyChanged> {
  const { acts } = core.journal;
  const entry = newAct({ ...by, ...whole });
  const { batchId, tenantId } = whole;
  const entries = parts.map((part) => {
    const partOf = tenantId !== null && part.act.tenantId === tenantId ? 'tenant' : 'installation';
    return newAct({ ...by, ...part.act, batchId, partOf });
  });
  await acts.append([entry, ...entries]);
  /** Null where it is unknown whether the change was made. */
  const results = parts.map((): ActResult | null => 'failed');
  const changeOne = async ([at, { change }]: [number, ActPart]): Promise<void> => {
    try {
      results[at] = await change();
    } catch (fault) {
      if (mayHaveHappened(fault)) results[at] = null;
      throw fault;
    }
  };
  await settleAll([...parts.entries()], changeOne, AT_ONCE).catch((fault: unknown) =>
    core.events.faulted(fault, by.requestId, whole.action),
  );
  const count = (wanted: ActResult | null): number => results.filter((result) => result === wanted).length;
  const [done, failed, unknown] = [count('done'), count('failed'), count(null)];
  const settle = async (): Promise<boolean> => {
    for (const result of ['done', 'unchanged', 'failed'] as const) {
      const ids = entries.filter((_, at) => results[at] === result).map(({ id }) => id);
      if (ids.length > 0) await acts.settle(ids, result);
    }
    if (unknown > 0) return false;
    await acts.settle([entry.id], done > 0 ? 'done' : failed > 0 ? 'failed' : 'unchanged', done);
    return true;
  };
  // The changes are made, even if their results cannot be saved.
  const isAudited = await settle().catch(ifAway(() => false));
  return { done, failed: failed + unknown, isAudited };
}

/** Acts that wait for their results at most; an act whose process crashes never gets one. */
const MAX_OPEN = 1000;

/** Is notified of each act; of a bulk act as a whole, not of its parts. */
export interface ActListener {
  /** Logs an act that is in the journal and is about to be made. */
  readonly log: (role: string, action: string, target: string, requestId: string | null) => void;
  /** The result of the act is known. */
  readonly settled: (entry: NewEntry<'act'>, result: ActResult, count: number | undefined) => void;
}

/** Wraps the journal of acts so that it notifies `listener`. Every act goes through it. */
export function reportActs(acts: ActLog, { log, settled }: ActListener): ActLog {
  const open = new Map<string, NewEntry<'act'>>();
  return {
    async append(entries) {
      await acts.append(entries);
      for (const entry of entries)
        if (entry.kind === 'act' && !isPart(entry)) {
          open.set(entry.id, entry);
          const { code, of, detail, requestId } = entry;
          log(detail.role ?? '', code, of.batchId ?? of.target ?? '', requestId);
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
