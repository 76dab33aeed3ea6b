import { ServerLink } from './server-link.ts';

/** Which server serves which tag. */
export interface Route {
  /** Tags of one group may share a script call. */
  groupOf(tag: number): number;
  /**
   * Sends a command to the server of a tag and follows redirections.
   * @param deadlineAt on `performance.now()`'s scale.
   * @throws Unavailable, or ErrorReply when the server refuses this particular command
   */
  send(tag: number, args: readonly string[], deadlineAt: number): Promise<unknown>;
  /** One tag of each server. @throws Unavailable when some tag has no server */
  tagOfEach(): Promise<readonly number[]>;
  close(): Promise<void>;
}

/** One server (or what acts as one: a primary with replicas behind a name) serves all tags, so that a tick is one script call. */
export function createSingleRoute(url: string, deadlineMs: number, onLost: () => void): Route {
  const link = new ServerLink([url], deadlineMs, { onLost });
  return {
    groupOf: () => 0,
    send: (_tag, args, deadlineAt) => link.send(args, deadlineAt),
    tagOfEach: () => Promise.resolve([0]),
    close: () => link.close(),
  };
}
