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

/** What a machine did with the event that is the entry's code. */
export interface TransitionDetail {
  readonly change: Exclude<ActorEventKind, NoteKind>;
  /** Null when the event opened the actor. */
  readonly from: string | null;
  readonly to: string;
  readonly steps: readonly TransitionStep[];
  readonly guards: readonly GuardTold[];
  /** Of the record after it. */
  readonly version: number;
  readonly record: FlatDetail;
}

/** Entries for which a node had no room: from `fromMs` until the entry's own time. */
export interface LostDetail {
  readonly fromMs: number;
  readonly count: number;
}

/** Of a request that was refused: without addresses, e-mail addresses, codes, tokens, and without what it said. */
export type RefusalDetail = RefusalFacts['detail'] & {
  readonly status: number;
  /** The keyed hash of the caller's address. */
  readonly addressHash: string | null;
  /** Of the address: its /24, or /48. */
  readonly network: string | null;
  readonly retryAfter?: number | undefined;
};

/** What operators are told of a budget: the codes of its facts. */
export type FactCode = 'budget.warned' | 'budget.exceeded' | 'budget.raised';

/** A process that serves, or did. */
export interface ProcessDetail {
  readonly host: string;
  readonly version: string;
  readonly configHash: string;
  /** Of its rows in the activity. */
  readonly shard: number;
}

/** What there is to say of each kind beside what all kinds have. */
export interface Details {
  /** What a machine did. */
  readonly transition: TransitionDetail;
  /** What happened to a voice session beside what its machine did. */
  readonly note: FlatDetail;
  /** Transitions and notes that a node had no room for. */
  readonly lost: LostDetail;
  readonly refusal: RefusalDetail;
  /** What an operator did. */
  readonly act: ActDetail;
  /** What became true of something that is no actor of its own, once over all nodes. */
  readonly fact: FlatDetail;
  /** The start or the stop of a process. */
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

/** Whose it is, and what it happened to; what is not known is absent. Whole ids of voice sessions are never here. */
export interface About {
  readonly tenantId?: string | null;
  readonly keyId?: string | null;
  readonly subject?: string | null;
  /** Of transitions and notes: which machine the target is an actor of. */
  readonly machine?: MachineName;
  /**
   * The ref of a voice session, the id of a call, code or login, `<tenant>/<id>` of a key or budget, the filter of many sessions, the hash of an address,
   * or what the request ids of a process begin with.
   */
  readonly target?: string;
  /** Who did it: an operator's e-mail address, `service:` and what tells one service token from another, or `cli`. */
  readonly actor?: string;
  /** What was done together. */
  readonly batchId?: string | null;
  /**
   * Of an act that is a part of one that has an entry as well: whose that entry is, the tenant's of this one or the installation's. Whoever is
   * shown that tenant, or everything, is shown the act as a whole.
   */
  readonly partOf?: 'tenant' | 'installation' | null;
}

interface NewEntryOf<K extends EntryKind> {
  /** Unique, and made by whoever writes: an entry that is there already is not written again. */
  readonly id: string;
  readonly kind: K;
  readonly atMs: number;
  /** The process that saw it; null for acts. */
  readonly node: string | null;
  readonly requestId: string | null;
  readonly of: About;
  /** What happened, in a word: the event of a machine, the code of a refusal, the action of an operator. */
  readonly code: Codes[K];
  readonly detail: Details[K];
}

/** Something that happened. */
export type NewEntry<K extends EntryKind = EntryKind> = { [One in K]: NewEntryOf<One> }[K];

export type Entry<K extends EntryKind = EntryKind> = NewEntry<K> & {
  /** Tells apart what happened in one millisecond: it grows with the order in which entries were kept. */
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
  /** Without the parts of acts that `tenants` are shown as a whole. */
  readonly isFolded?: boolean | undefined;
}

/** Where a page ends, and the next one begins after it. */
export interface JournalPosition {
  readonly atMs: number;
  readonly ordinal: number;
}

/** How many entries there are of a target, by kind and code. */
export interface TargetTally {
  readonly target: string;
  readonly kind: EntryKind;
  readonly code: string;
  readonly count: number;
}

export interface JournalPage<K extends EntryKind> {
  /** The newest first. */
  readonly entries: readonly Entry<K>[];
  /** Undefined on the last page. */
  readonly next: JournalPosition | undefined;
  /** Whether it is short because enough was looked through. */
  readonly isPartial: boolean;
}

/** What happened, of every kind. @throws Unavailable when the database is away. */
export interface Journal {
  /** Keeps entries in their order, but for those that are kept already: by their id, and refusals by their request as well. */
  append(entries: readonly NewEntry[]): Promise<void>;
  /** Says what came of acts. */
  settle(ids: readonly string[], result: ActResult, count?: number): Promise<void>;
  list<K extends EntryKind>(
    query: JournalQuery<K>,
    after: JournalPosition | undefined,
    limit: number,
  ): Promise<JournalPage<K>>;
  /** How many transitions, notes and acts targets have, up to 10,000 together. */
  tally(targets: readonly string[]): Promise<readonly TargetTally[]>;
  /** The actors of a machine that a request did something to, the latest first. */
  actorsOf(machine: MachineName, requestId: string, limit: number): Promise<string[]>;
  /** Times in which transitions and notes may be missing, within a span, the newest first; at most 100. */
  lostWithin(fromMs: number, toMs: number): Promise<Entry<'lost'>[]>;
  /** The last act of an action on a target up to a time, the first of several at one instant; undefined when there is none. */
  latestAct(action: ActAction, target: string, untilMs: number): Promise<Entry<'act'> | undefined>;
  /** Everybody who did something that is kept. */
  whoActed(): Promise<string[]>;
  /** Who began to end many sessions as the act of this id; undefined where nobody did. */
  beginnerOf(batchId: string): Promise<string | undefined>;
}

/** Something that happened to a voice session beside what its machine did, as it is told by whoever sees it. */
export interface SessionNote {
  readonly sessionId: string;
  /** Null where whoever noted it does not know. */
  readonly tenantId: string | null;
  readonly atMs: number;
  readonly kind: NoteKind;
  readonly detail: FlatDetail;
}

/** Takes a note in, at once and without a fault: nobody waits for it. */
export type NoteSession = (note: SessionNote) => void;

/** Where acts are kept before they happen, and what came of them after. */
export type ActLog = Pick<Journal, 'append' | 'settle'>;

/** Who asks for a change, and why. */
export interface ChangedBy {
  /** An operator's e-mail address, `service:` and what tells one token from another, or `cli`. */
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
  /** Whose it is; null for what is of the installation. */
  readonly tenantId: string | null;
  /** What is changed together. */
  readonly batchId?: string | null | undefined;
  /** See About. */
  readonly partOf?: About['partOf'];
}

export function newAct(input: ActInput): NewEntry<'act'> {
  const { atMs, actor, role, action, target, tenantId, reason = null, requestId = null } = input;
  const { batchId = null, partOf = null } = input;
  return {
    id: rowId(),
    kind: 'act',
    atMs,
    node: null,
    requestId,
    of: { tenantId, target, actor, batchId, partOf },
    code: action,
    detail: { role, reason, result: null, count: null },
  };
}

/**
 * Makes a change that is kept: its entry before it, for an entry whose change then failed can be explained and a change without an entry can
 * not; and what came of it after it.
 * @param resultOf null where nobody knows what came of it
 * @throws what `change` throws, and Unavailable when the entry cannot be written: then nothing is changed
 */
export async function audited<T>(
  acts: ActLog,
  act: NewEntry<'act'>,
  change: () => T | Promise<T>,
  resultOf: (changed: Awaited<T>) => ActResult | null,
): Promise<Awaited<T>> {
  await acts.append([act]);
  // The change is made, whether or not that can be said of it.
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

/** Whether a change may be made for all its fault: of what the database did not answer nobody knows, and a session whose end it does not keep yet is over. */
export function mayHaveHappened(fault: unknown): boolean {
  return fault instanceof Unavailable && fault.dependency === 'database';
}
