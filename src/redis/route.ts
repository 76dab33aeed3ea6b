/** Which server serves which tag. */
export interface Route {
  /** Tags of one group may share a script call. */
  groupOf(tag: number): number;
  /**
   * Sends a command to the server of a tag and follows redirections.
   * @param deadlineAt on `performance.now()`'s scale.
   * @throws Unavailable, or ErrorReply when the server refuses this very command
   */
  send(tag: number, args: readonly string[], deadlineAt: number): Promise<unknown>;
  /** One tag of each server. @throws Unavailable when some tag has none */
  tagOfEach(): Promise<readonly number[]>;
  close(): Promise<void>;
}
