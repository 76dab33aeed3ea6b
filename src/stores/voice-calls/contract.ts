import type { CallRecord, CallState, Hangup } from '../../../machines/voice-call/types.ts';
import type { RecordStore } from '../../actors/host.ts';
import type { Position } from '../voice-history/contract.ts';

/** A call whose owner is no live node. */
export interface Orphan {
  readonly id: string;
  readonly sessionId: string;
  readonly provider: string;
  readonly fingerprint: string | null;
  readonly ownerNode: string;
  /** As it was seen: whoever takes the call over first changes it. */
  readonly fence: number;
  /** Until when its owner's lease ran; null for a node that left, or that nobody remembers. */
  readonly ownerUntilMs: number | null;
}

/** Calls that may be open at a provider. */
export interface CallsElsewhere {
  readonly provider: string;
  readonly count: number;
  /** When the provider itself has ended the last of them. */
  readonly endsAtMs: number;
  /** The ids of some. */
  readonly newest: readonly string[];
}

/** Which calls a list has. */
export interface CallFilter {
  /** In one of these states. */
  readonly states?: readonly CallState[] | undefined;
  /** Of whose hang-up one of these is known. */
  readonly hangups?: readonly Hangup[] | undefined;
  readonly tenantId?: string | undefined;
  /** One of these tenants, where they are named. */
  readonly tenants?: readonly string[] | undefined;
  readonly keyId?: string | undefined;
  /** Of a session of this agent. */
  readonly agentId?: string | undefined;
}

export interface ListedCall {
  readonly record: CallRecord;
  /** Of its session; null where that has none, or is kept no more. */
  readonly agentId: string | null;
}

export interface CallPage {
  readonly rows: readonly ListedCall[];
  /** The next page begins after it; undefined on the last page. */
  readonly next: Position | undefined;
  /** Whether it is short because enough was looked through, up to `next`. */
  readonly isPartial: boolean;
}

/** Calls at providers: what must be found again when the node that holds one dies. @throws Unavailable when the database is away. */
export interface VoiceCalls extends RecordStore<CallRecord> {
  load(id: string): Promise<CallRecord | undefined>;
  save(record: CallRecord, expectedVersion: number): Promise<boolean>;
  /**
   * Inserts a call of a session, whole or not at all.
   * @param most calls that the session may have had, this one included
   * @returns `in_progress` while another call of the session is being created, `too_many` when there were that many
   */
  insert(record: CallRecord, most: number): Promise<'inserted' | 'in_progress' | 'too_many'>;
  /** All of a session's, the newest first. */
  ofSession(sessionId: string): Promise<readonly CallRecord[]>;
  /** The newest first. @param after where an earlier page ended */
  list(filter: CallFilter, after: Position | undefined, limit: number): Promise<CallPage>;
  /** How many calls are not over: those that go on, or are being opened, and those to be hung up. @param tenants whose; undefined: of all */
  countUnclosed(tenants?: readonly string[]): Promise<{ readonly open: number; readonly closing: number }>;
  /**
   * How many calls are still to be hung up that were so at `beforeMs` already, and of which nobody has said since that they are over.
   * @param tenants whose; undefined: of all
   */
  countClosing(beforeMs: number, tenants?: readonly string[]): Promise<number>;
  /** The node's calls whose next deadline (see `nextDeadline`) has come, the longest due first. */
  due(node: string, atMs: number, limit: number): Promise<readonly CallRecord[]>;
  /**
   * Calls that are not over, or whose session is still to end, and whose owner is not among the live nodes.
   * @param fingerprints of accounts that the node can ask; calls of theirs that their owner cannot ask for are orphans as well
   */
  orphans(atMs: number, fingerprints: readonly string[], limit: number): Promise<readonly Orphan[]>;
  /** Calls that may still be open at other providers than this one, by provider. */
  openElsewhere(provider: string, atMs: number): Promise<readonly CallsElsewhere[]>;
}

export interface LiveNode {
  readonly node: string;
  readonly untilMs: number;
}

/** The nodes that are alive: one row each, so that a node that holds a thousand calls renews one. @throws Unavailable */
export interface LiveNodes {
  /** @returns the other nodes that are alive */
  renew(node: string, untilMs: number, atMs: number): Promise<readonly LiveNode[]>;
  /** The node stops: others may take its calls at once. */
  leave(node: string): Promise<void>;
  /** Whether another node is alive, which takes the calls of one that stops. */
  hasOther(node: string, atMs: number): Promise<boolean>;
}
