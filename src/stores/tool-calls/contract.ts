import type { ToolCallRecord } from '../../../machines/tool-call/types.ts';
import type { RecordStore } from '../../actors/host.ts';

/** `taken`: the voice call has one of that name already, or has another owner than the fence says. */
export type InsertedToolCall = 'inserted' | 'taken' | 'too_many';

/** Calls of tools of the server. Only the owner of their voice call may change them, by its fence. @throws Unavailable when the database is away */
export interface ToolCalls extends RecordStore<ToolCallRecord> {
  load(id: string): Promise<ToolCallRecord | undefined>;
  /** @returns false, and changes nothing, for another version, and where the record's fence is not that of its voice call */
  save(record: ToolCallRecord, expectedVersion: number): Promise<boolean>;
  /**
   * Inserts those that one response asks for, all of one voice call. The limit is exact for as long as the owner inserts those of a session
   * one response after the other.
   * @param most that the session may have had, these included
   * @returns what became of each, in their order
   */
  insert(records: readonly ToolCallRecord[], most: number): Promise<readonly InsertedToolCall[]>;
  /** All of a session's, in the order in which they were asked. */
  ofSession(sessionId: string): Promise<readonly ToolCallRecord[]>;
}
