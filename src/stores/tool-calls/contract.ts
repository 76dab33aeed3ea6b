import type { ToolCallRecord } from '../../../machines/tool-call/types.ts';
import type { RecordStore } from '../../actors/host.ts';
import type { Promised } from '../../kernel/async.ts';

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
