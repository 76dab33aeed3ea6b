import type { Entry, Journal } from '../../support/journal.ts';
import type { TestCall } from '../../support/provider/call.ts';
import type { SeenEnd } from './observer.ts';
import type { Fault } from './faults.ts';
import type { FaultKind } from './schedule.ts';
import type { Stalls } from './stalls.ts';

/** A row of voice_session after the campaign. */
export interface SessionRow {
  readonly id: string;
  readonly startedAtMs: number;
  readonly lastSeenAtMs: number;
  readonly lastActivityAtMs: number;
  readonly endedAtMs: number | null;
  readonly reason: string | null;
}

/** An entry of the ledger. */
export interface LedgerRow {
  readonly subject: string;
  readonly key: string | null;
  readonly tokens: number;
  /** Null for usage that a client reported. */
  readonly callId: string | null;
  readonly atMs: number;
  readonly isEstimated: boolean;
  readonly pico: bigint;
}

/** A row of voice_call after the campaign, with what its meter counted. */
export interface CallRow {
  readonly id: string;
  readonly sessionId: string;
  readonly providerCallId: string | null;
  readonly state: string;
  /** Null for a call that was never open: no page has its answer. */
  readonly openedAtMs: number | null;
  readonly closeReason: string | null;
  readonly tokens: number;
  readonly gapMs: number;
  readonly picoMeasured: bigint;
  readonly picoEstimated: bigint;
  readonly microDollars: number;
}

/** Everything that is known after a campaign. */
export interface History {
  readonly journal: Journal;
  readonly faults: readonly Fault[];
  readonly stalls: Stalls;
  readonly seenEnds: ReadonlyMap<string, SeenEnd>;
  readonly sessions: ReadonlyMap<string, SessionRow>;
  readonly ledger: readonly LedgerRow[];
  /** Tokens by subject, from the daily totals. */
  readonly totals: ReadonlyMap<string, number>;
  /** By the provider's call id. */
  readonly calls: ReadonlyMap<string, CallRow>;
  /** The calls as the provider knows them. */
  readonly provided: readonly TestCall[];
  /** Number of logins by address. */
  readonly logins: ReadonlyMap<string, number>;
  /** How often nodes logged a session's end, by the first 42 characters of its id. */
  readonly loggedEnds: ReadonlyMap<string, number>;
  /** Heartbeats that were answered before they were saved; undefined without Redis, where none are. */
  readonly waited: number | undefined;
}

/** How long recovery may take after a part is back (goal R4). */
export const RECOVERY_MS = 3000;

export type Dependency = 'redis' | 'postgres' | 'provider' | 'mail';

export function dependencyOf(kind: FaultKind): string {
  return kind.slice(0, kind.indexOf('.'));
}

/** Whether a fault of a dependency, or the recovery from it, overlaps a request. */
export function isAway(
  faults: readonly Fault[],
  dependency: Dependency,
  { sentAt, doneAt }: Pick<Entry, 'sentAt' | 'doneAt'>,
): boolean {
  return faults.some(
    ({ kind, from, to }) => dependencyOf(kind) === dependency && from <= doneAt && to + RECOVERY_MS >= sentAt,
  );
}

/** Whether the node of a request was killed, frozen or restarted meanwhile, or had just come back. */
export function isNodeAway(
  faults: readonly Fault[],
  { node, sentAt, doneAt }: Pick<Entry, 'node' | 'sentAt' | 'doneAt'>,
  recoveryMs: number,
): boolean {
  return faults.some((fault) => fault.node === node && fault.from <= doneAt && fault.to + recoveryMs >= sentAt);
}

/** Selects the faults of a dependency, or of one node. */
export function excusedBy(dependency: Dependency, node: number | undefined): (fault: Fault) => boolean {
  return (fault) => dependencyOf(fault.kind) === dependency || (fault.node !== undefined && fault.node === node);
}

/** One line in a report. */
export function describe({ call, node, sentAt, doneAt, outcome, code, reason, about }: Entry): string {
  const answer = [outcome, code, reason].filter((part) => part !== undefined).join(' ');
  return `${new Date(sentAt).toISOString().slice(11, 23)} ${call} at node ${node}: ${answer} after ${doneAt - sentAt} ms (${about.session ?? about.email})`;
}

/** The time until which a late end is excused, because a fault of a store coincided with its deadline. */
export function excusedUntil(faults: readonly Fault[], deadline: number, allowanceMs: number): number {
  let until = deadline + allowanceMs;
  for (const { kind, from, to } of faults) {
    const isStore = dependencyOf(kind) === 'redis' || dependencyOf(kind) === 'postgres';
    if (isStore && from <= until && to + RECOVERY_MS >= deadline)
      until = Math.max(until, to + RECOVERY_MS + allowanceMs);
  }
  return until;
}
