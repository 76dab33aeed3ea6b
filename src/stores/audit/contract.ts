import { ifAway, Unavailable } from '../../kernel/errors.ts';

/** What operators do. Names are never changed, because the audit keeps them. */
export const AUDIT_ACTIONS = [
  'session.end',
  'sessions.end',
  'key.issue',
  'key.revoke',
  'key.pause',
  'key.resume',
  'login.revoke',
  'address.lift',
  'search.address',
] as const;

export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** What came of it; null while that is not known, and for ever where a process died over it. */
export const AUDIT_RESULTS = ['done', 'unchanged', 'failed'] as const;

export type AuditResult = (typeof AUDIT_RESULTS)[number];

export type AuditRole = 'operator' | 'service' | 'viewer' | 'tenant_admin' | 'cli';

/** A change that somebody is about to make: who, in which role, when, what, why. */
export interface NewAuditEntry {
  readonly atMs: number;
  /** An operator's e-mail address, `service:` and what tells one service token from another, or `cli`. */
  readonly actor: string;
  readonly role: AuditRole;
  readonly action: AuditAction;
  /** What was changed: `<tenant>/<id>` of a key, the ref of a voice session and never its whole id, the filter of many, the id of a login, the hash
   * of an address. */
  readonly target: string;
  /** Whose it is; null for what is of the installation. */
  readonly tenantId: string | null;
  readonly reason: string | null;
  readonly requestId: string | null;
  /** What was changed together. */
  readonly batchId: string | null;
}

export interface AuditEntry extends Omit<NewAuditEntry, 'role'> {
  /** Grows with the order in which entries were kept. */
  readonly ordinal: number;
  /** Null for what was kept before roles were. */
  readonly role: AuditRole | null;
  readonly result: AuditResult | null;
  /** How many it concerned, where that is said. */
  readonly count: number | null;
}

export interface AuditFilter {
  readonly actor?: string | undefined;
  readonly action?: AuditAction | undefined;
  readonly target?: string | undefined;
  readonly batchId?: string | undefined;
  /** At this time or later. */
  readonly fromMs?: number | undefined;
  /** Before this time. */
  readonly toMs?: number | undefined;
  /** One of these tenants, where they are named. */
  readonly tenants?: readonly string[] | undefined;
}

/** Where a page ends, and the next one begins after it. */
export interface AuditPosition {
  readonly atMs: number;
  readonly ordinal: number;
}

export interface AuditPage {
  /** The newest first. */
  readonly entries: readonly AuditEntry[];
  /** Undefined on the last page. */
  readonly next: AuditPosition | undefined;
  /** Whether it is short because enough was looked through. */
  readonly isPartial: boolean;
}

/** What operators changed. @throws Unavailable when the database is away. */
export interface Audit {
  /** @returns the ordinals, in the order of the entries */
  append(entries: readonly NewAuditEntry[]): Promise<number[]>;
  /** Says what came of entries. */
  settle(ordinals: readonly number[], result: AuditResult, count?: number): Promise<void>;
  /** The last entry of an action on a target up to a time, the first of several at one instant; undefined when there is none. */
  latest(action: AuditAction, target: string, untilMs: number): Promise<AuditEntry | undefined>;
  /** Who began to end many sessions as the act of this id; undefined where nobody did. */
  beginnerOf(batchId: string): Promise<string | undefined>;
  list(filter: AuditFilter, after: AuditPosition | undefined, limit: number): Promise<AuditPage>;
}

/**
 * Makes a change that is kept: its row before it, for a row whose change then failed can be explained and a change without a row can not;
 * and what came of it after it.
 * @throws what `change` throws, and Unavailable when the row cannot be written: then nothing is changed
 */
export async function audited<T>(
  audit: Pick<Audit, 'append' | 'settle'>,
  entry: NewAuditEntry,
  change: () => T | Promise<T>,
  resultOf: (changed: Awaited<T>) => AuditResult,
): Promise<Awaited<T>> {
  const rows = await audit.append([entry]);
  // The change is made, whether or not that can be said of it.
  const settle = (result: AuditResult) => audit.settle(rows, result).catch(ifAway(() => undefined));
  try {
    const changed = await change();
    await settle(resultOf(changed));
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
