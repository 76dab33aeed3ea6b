import type { GuardTold, TransitionStep } from '../../actors/trace.ts';
import { ifAway, Unavailable } from '../../kernel/errors.ts';
import { rowId } from '../../kernel/ids.ts';
import type { ActorEventKind, NoteKind } from '../../protocol/operator/event.ts';
import type { RefusalFacts } from '../../protocol/errors/error-row.ts';
import type { TenantScope } from '../tenants/contract.ts';
import type { ActAction, ActDetail, ActResult, ActRole } from './act-contract.ts';

/** Machines whose transitions are kept, by the names that they give themselves. */
export const MACHINES = ['voice-session', 'voice-call', 'otp-challenge', 'auth-session'] as const;

export type MachineName = (typeof MACHINES)[number];

export type FlatDetail = Readonly<Record<string, string | number | boolean | null>>;

/** What a machine did with the event named by the entry's code. */
export interface TransitionDetail {
  readonly change: Exclude<ActorEventKind, NoteKind>;
  /** Null when the event opened the actor. */
  readonly from: string | null;
  readonly to: string;
  readonly steps: readonly TransitionStep[];
  readonly guards: readonly GuardTold[];
  /** The record's version after it. */
  readonly version: number;
  readonly record: FlatDetail;
}

/** Entries that a node had no room for, from `fromMs` until the entry's own time. */
export interface LostDetail {
  readonly fromMs: number;
  readonly count: number;
}

/** About a refused request: no addresses, e-mail addresses, codes or tokens, and nothing that the request said. */
export type RefusalDetail = RefusalFacts['detail'] & {
  readonly status: number;
  /** The keyed hash of the caller's address. */
  readonly addressHash: string | null;
  /** The network of the address: its /24 or /48. */
  readonly network: string | null;
  readonly retryAfter?: number | undefined;
};

/** The codes of the facts about budgets that operators are told. */
export type FactCode = 'budget.warned' | 'budget.exceeded' | 'budget.raised';

/** A process that serves, or served. */
export interface ProcessDetail {
  readonly host: string;
  readonly version: string;
  readonly configHash: string;
  /** The shard of its rows in the activity. */
  readonly shard: number;
}

/** The details of each kind of entry, beside what all kinds have. */
export interface Details {
  /** What a machine did. */
  readonly transition: TransitionDetail;
  /** What happened to a voice session, other than its machine's transitions. */
  readonly note: FlatDetail;
  /** Transitions and notes that a node had no room for. */
  readonly lost: LostDetail;
  readonly refusal: RefusalDetail;
  /** What an operator did. */
  readonly act: ActDetail;
  /** What became true of something that is no actor; written once over all nodes. */
  readonly fact: FlatDetail;
  /** The start or stop of a process. */
  readonly process: ProcessDetail;
}

export type EntryKind = keyof Details;

interface Codes {
  readonly transition: string;
  readonly note: NoteKind;
  readonly lost: 'events';
  readonly refusal: string;
  readonly act: ActAction;
  readonly fact: FactCode;
  readonly process: 'started' | 'stopped';
}

/** Whom an entry concerns and what it happened to; unknown fields are absent. Whole ids of voice sessions are never here. */
export interface About {
  readonly tenantId?: string | null;
  readonly keyId?: string | null;
  readonly subject?: string | null;
  /** For transitions and notes: the machine whose actor the target is. */
  readonly machine?: MachineName;
  /**
   * The ref of a voice session; the id of a call, code or login; `<tenant>/<id>` of a key or budget; the filter that chose many sessions; the hash of
   * an address; or the prefix of a process's request ids.
   */
  readonly target?: string;
  /** Who did it: an operator's e-mail address, `service:` and what identifies the service token, or `cli`. */
  readonly actor?: string;
  /** Shared by acts that were done together. */
  readonly batchId?: string | null;
  /**
   * For an act that is part of a larger one with an entry of its own: whether that entry belongs to this act's tenant or to the installation. Readers
   * who are shown that tenant, or everything, are shown the larger act.
   */
  readonly partOf?: 'tenant' | 'installation' | null;
}

interface NewEntryOf<K extends EntryKind> {
  /** Unique, and made by the writer: an entry whose id exists is not written again. */
  readonly id: string;
  readonly kind: K;
  readonly atMs: number;
  /** The process that observed it; null for acts. */
  readonly node: string | null;
  readonly requestId: string | null;
  readonly of: About;
  /** What happened, in a word: a machine's event, a refusal's code, an operator's action. */
  readonly code: Codes[K];
  readonly detail: Details[K];
}

/** Something that happened. */
export type NewEntry<K extends EntryKind = EntryKind> = { [One in K]: NewEntryOf<One> }[K];

export type Entry<K extends EntryKind = EntryKind> = NewEntry<K> & {
  /** Orders the entries of one millisecond: it grows in the order in which entries were kept. */
  readonly ordinal: number;
};

export interface JournalQuery<K extends EntryKind> {
  readonly kinds: readonly K[];
  readonly tenants: TenantScope;
  /** At this time or later. */
  readonly fromMs?: number | undefined;
  /** Before this time. */
  readonly beforeMs?: number | undefined;
  readonly machine?: MachineName | undefined;
  /** One target, or any of several. */
  readonly target?: string | readonly string[] | undefined;
  readonly requestId?: string | undefined;
  readonly batchId?: string | undefined;
  /** One code, or any of several. */
  readonly code?: string | readonly string[] | undefined;
  readonly keyId?: string | undefined;
  readonly subject?: string | undefined;
  readonly network?: string | undefined;
  readonly actor?: string | undefined;
  /** Leaves out parts of acts that `tenants` are shown as a whole. */
  readonly isFolded?: boolean | undefined;
}

/** Where a page ends; the next one begins after it. */
export interface JournalPosition {
  readonly atMs: number;
  readonly ordinal: number;
}

/** How many entries a target has, by kind and code. */
export interface TargetTally {
  readonly target: string;
  readonly kind: EntryKind;
  readonly code: string;
  readonly count: number;
}

export interface JournalPage<K extends EntryKind> {
  /** Newest first. */
  readonly entries: readonly Entry<K>[];
  /** Undefined on the last page. */
  readonly next: JournalPosition | undefined;
  /** Whether the page is short because enough rows were scanned. */
  readonly isPartial: boolean;
}

/** The most entries that a tally counts. */
export const MAX_TALLIED = 10_000;

/** What happened, of every kind. @throws Unavailable when the database is away. */
export interface Journal {
  /** Keeps entries in the given order, except those that are kept already (found by id, and refusals also by request). */
  append(entries: readonly NewEntry[]): Promise<void>;
  /** Records the result of acts. */
  settle(ids: readonly string[], result: ActResult, count?: number): Promise<void>;
  list<K extends EntryKind>(
    query: JournalQuery<K>,
    after: JournalPosition | undefined,
    limit: number,
  ): Promise<JournalPage<K>>;
  /** How many transitions, notes and acts the targets have; counts up to `MAX_TALLIED` in all. */
  tally(targets: readonly string[]): Promise<readonly TargetTally[]>;
  /** The actors of a machine that a request affected, latest first. */
  actorsOf(machine: MachineName, requestId: string, limit: number): Promise<string[]>;
  /** Periods in which transitions and notes may be missing, within a span, newest first; at most 100. */
  lostWithin(fromMs: number, toMs: number): Promise<Entry<'lost'>[]>;
  /** The latest act of an action on a target up to a time (if several are of one instant, the first); undefined if there is none. */
  latestAct(action: ActAction, target: string, untilMs: number): Promise<Entry<'act'> | undefined>;
  /** Everybody whose acts are kept. */
  whoActed(): Promise<string[]>;
  /** Who began to end many sessions with the act of this id; undefined if nobody did. */
  beginnerOf(batchId: string): Promise<string | undefined>;
}

/** Something that happened to a voice session other than its machine's transitions, as reported by the code that observes it. */
export interface SessionNote {
  readonly sessionId: string;
  /** Null if the observer does not know it. */
  readonly tenantId: string | null;
  readonly atMs: number;
  readonly kind: NoteKind;
  readonly detail: FlatDetail;
}

/** Takes in a note at once and never throws: nobody waits for it. */
export type NoteSession = (note: SessionNote) => void;

/** Where acts are written before they happen, and their results afterwards. */
export type ActLog = Pick<Journal, 'append' | 'settle'>;

/** Who asks for a change, and why. */
export interface ChangedBy {
  /** An operator's e-mail address, `service:` and what identifies the service token, or `cli`. */
  readonly actor: string;
  readonly role: ActRole;
  readonly reason?: string | null | undefined;
  readonly requestId?: string | null | undefined;
}

/** What somebody is about to do: who, in which role, when, to what, why. */
export interface ActInput extends ChangedBy {
  readonly atMs: number;
  readonly action: ActAction;
  readonly target: string;
  /** The tenant concerned; null for the installation. */
  readonly tenantId: string | null;
  /** Shared by acts that are done together. */
  readonly batchId?: string | null | undefined;
  /** See `About`. */
  readonly partOf?: About['partOf'];
  readonly textHash?: ActDetail['textHash'];
}

export function newAct(input: ActInput): NewEntry<'act'> {
  const { atMs, actor, role, action, target, tenantId, reason = null, requestId = null } = input;
  const { batchId = null, partOf = null, textHash } = input;
  return {
    id: rowId(),
    kind: 'act',
    atMs,
    node: null,
    requestId,
    of: { tenantId, target, actor, batchId, partOf },
    code: action,
    detail: { role, reason, result: null, count: null, ...(textHash !== undefined && { textHash }) },
  };
}

/**
 * Makes a change that is kept in the journal. The entry is written before the change, because an entry whose change failed can be explained and a
 * change without an entry cannot; the result is written after it.
 * @param resultOf null if the result is not known
 * @throws what `change` throws, and Unavailable when the entry cannot be written: then nothing is changed
 */
export async function audited<T>(
  acts: ActLog,
  act: NewEntry<'act'>,
  change: () => T | Promise<T>,
  resultOf: (changed: Awaited<T>) => ActResult | null,
): Promise<Awaited<T>> {
  await acts.append([act]);
  // The change is made, whether or not its result can be written.
  const settle = (result: ActResult) => acts.settle([act.id], result).catch(ifAway(() => undefined));
  try {
    const changed = await change();
    const result = resultOf(changed);
    if (result !== null) await settle(result);
    return changed;
  } catch (fault) {
    if (!mayHaveHappened(fault)) await settle('failed');
    throw fault;
  }
}

/**
 * Whether a change may have been made despite its error: nobody knows if the database did not answer, and a session is over even if its end is not
 * saved yet.
 */
export function mayHaveHappened(fault: unknown): boolean {
  return fault instanceof Unavailable && fault.dependency === 'database';
}
