import { ifAway } from '../kernel/errors.ts';
import { settleAll } from '../kernel/settle-all.ts';
import type { ActAction, ActResult, ActRole } from '../stores/journal/act-contract.ts';
import { audited, mayHaveHappened, newAct, type NewEntry } from '../stores/journal/contract.ts';
import type { OperatorServices } from './services.ts';

/** So many changes of one act are under way at once. */
const AT_ONCE = 50;

/** Who asks for a change, in which role, when and why. */
export interface ActBy {
  /** An operator's e-mail address, or `service:` and what tells one token from another. */
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
  /** Whose it is; null for what is of the installation. */
  readonly tenantId: string | null;
  /** What is changed together. */
  readonly batchId?: string;
  /** Whose the act as a whole is, of one of its parts. */
  readonly partOf?: 'tenant' | 'installation';
}

/** The entry of what somebody is about to do. */
function toActEntry(what: Act, by: ActBy): NewEntry<'act'> {
  return newAct({ ...by, ...what });
}

/**
 * Makes a change that the log tells of and the journal keeps: see `audited`.
 * @param resultOf what came of the change, null where nobody knows; by default it was done
 * @throws what `change` throws, and Unavailable when the journal cannot be written: then nothing is changed
 */
export async function act<T>(
  what: Act,
  by: ActBy,
  { core: { journal } }: Pick<OperatorServices, 'core'>,
  change: () => T | Promise<T>,
  resultOf: (changed: Awaited<T>) => ActResult | null = () => 'done',
): Promise<Awaited<T>> {
  return audited(journal.acts, toActEntry(what, by), change, resultOf);
}

/** One of many changes that are made as one act. */
interface ActPart {
  readonly act: Act;
  readonly change: () => Promise<ActResult>;
}

/** How many of the changes of one act were made, and how many were not, or perhaps not. */
export interface ManyChanged {
  readonly done: number;
  readonly failed: number;
  /** Whether the journal has all results. */
  readonly isAudited: boolean;
}

/**
 * Makes many changes as one act: the act as a whole and each of its parts are kept before the first change, and what came of each after the
 * last. Changes that fail hold up no others; their faults are logged.
 * @throws Unavailable when the journal cannot be written: then nothing is changed
 */
export async function actOnMany(
  whole: Act & { readonly batchId: string },
  parts: readonly ActPart[],
  by: ActBy,
  { core }: Pick<OperatorServices, 'core'>,
): Promise<ManyChanged> {
  const { acts } = core.journal;
  const entry = toActEntry(whole, by);
  const { batchId, tenantId } = whole;
  const entries = parts.map((part) => {
    const partOf = tenantId !== null && part.act.tenantId === tenantId ? 'tenant' : 'installation';
    return toActEntry({ ...part.act, batchId, partOf }, by);
  });
  await acts.append([entry, ...entries]);
  /** Null where nobody knows. */
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
  // The changes are made, whether or not that can be written down.
  const isAudited = await settle().catch(ifAway(() => false));
  return { done, failed: failed + unknown, isAudited };
}
