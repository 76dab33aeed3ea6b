import type { CallRecord, CallState, Hangup } from '../../../machines/voice-call/types.ts';
import type { RecordStore } from '../../actors/host.ts';
import type { Promised } from '../../kernel/async.ts';
import type { Page, Position } from '../voice-history/contract.ts';
import type { ToolCallRecord } from '../../../machines/tool-call/types.ts';

/** A call whose owner is not a live node. */
export interface Orphan extends Pick<CallRecord, 'id' | 'sessionId' | 'provider' | 'fingerprint' | 'ownerNode'> {
  /** The fence that was read: the first node to take the call over changes it. */
  readonly fence: number;
  /** When its owner's lease ends or ended; null if the owner left, or is no longer known. */
  readonly ownerUntilMs: number | null;
}

/** Calls that may be open at a provider. */
export interface CallsElsewhere {
  readonly provider: string;
  readonly count: number;
  /** When the provider itself will have ended the last of them. */
  readonly endsAtMs: number;
  /** The ids of some, newest first. */
  readonly newest: readonly string[];
}

/** Which calls a list contains. */
export interface CallFilter {
  /** In one of these states. */
  readonly states?: readonly CallState[] | undefined;
  /** With one of these hang-up outcomes. */
  readonly hangups?: readonly Hangup[] | undefined;
  readonly tenantId?: string | undefined;
  /** Of one of these tenants; all if not given. */
  readonly tenants?: readonly string[] | undefined;
  readonly keyId?: string | undefined;
  /** Of sessions of this agent. */
  readonly agentId?: string | undefined;
}

export interface ListedCall {
  readonly record: CallRecord;
  /** The agent of its session; null if that has none, or is no longer kept. */
  readonly agentId: string | null;
}

export type CallPage = Page<ListedCall>;

/** Calls at providers, which must be found again when the node that holds one dies. @throws Unavailable when the database is away. */
export interface VoiceCalls extends Promised<RecordStore<CallRecord>> {
  /**
   * Inserts a call of a session, as a whole or not at all.
   * @param most how many calls the session may have had, including this one
   * @returns `in_progress` while another call of the session is being created, `too_many` if it would exceed the limit
   */
  insert(record: CallRecord, most: number): Promise<'inserted' | 'in_progress' | 'too_many'>;
  /** All calls of a session, newest first. */
  ofSession(sessionId: string): Promise<readonly CallRecord[]>;
  /** Newest first. @param after where the previous page ended */
  list(filter: CallFilter, after: Position | undefined, limit: number): Promise<CallPage>;
  /**
   * How many calls are not over: those that go on or are being opened (`open`), and those still to be hung up (`closing`).
   * @param tenants undefined: all
   */
  countUnclosed(tenants?: readonly string[]): Promise<{ readonly open: number; readonly closing: number }>;
  /**
   * How many calls that were to be hung up by `beforeMs` still are, and have not been reported over since then.
   * @param tenants undefined: all
   */
  countClosing(beforeMs: number, tenants?: readonly string[]): Promise<number>;
  /** The node's calls whose next deadline (see `nextDeadline`) has come, longest due first. */
  due(node: string, atMs: number, limit: number): Promise<readonly CallRecord[]>;
  /**
   * Calls that are not over, or whose session has still to end, and whose owner is not a live node.
   * @param fingerprints accounts that this node has access to; calls of these accounts are orphans too if their owner has no access
   */
  orphans(atMs: number, fingerprints: readonly string[], limit: number): Promise<readonly Orphan[]>;
  /** Calls that may still be open at other providers than this one, by provider. */
  openElsewhere(provider: string, atMs: number): Promise<readonly CallsElsewhere[]>;
}

/** `taken`: the voice call already has this tool call, or its fence differs from the record's. */
export type InsertedToolCall = 'inserted' | 'taken' | 'too_many';

/** Calls of server tools. Only the owner of their voice call may change them, by its fence. @throws Unavailable when the database is away */
export interface ToolCalls extends Promised<RecordStore<ToolCallRecord>> {
  /** @returns false, with nothing changed, if the stored version differs, or if the record's fence is not that of its voice call */
  save(record: ToolCallRecord, expectedVersion: number): Promise<boolean>;
  /**
   * Inserts the tool calls that one response asks for, all of one voice call. The limit is exact as long as the owner inserts the tool calls of a
   * session one response after the other.
   * @param most how many the session may have had, including these
   * @returns the outcome of each, in the given order
   */
  insert(records: readonly ToolCallRecord[], most: number): Promise<readonly InsertedToolCall[]>;
  /** All tool calls of a session, in the order in which they were asked for. */
  ofSession(sessionId: string): Promise<readonly ToolCallRecord[]>;
}
