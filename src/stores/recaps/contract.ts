import type { Eventually } from '../../kernel/async.ts';

/**
 * What was last said in each session, sealed, for its next call. It may be lost at any time: then that call knows nothing of what was said before.
 * @throws Unavailable when the store is away
 */
export interface Recaps {
  /** Keeps a session's recap until `untilMs`, replacing the one before. */
  keep(sessionId: string, sealed: string, untilMs: number, atMs: number): Eventually<unknown>;
  /** Undefined if there is none, or if it has expired. */
  find(sessionId: string, atMs: number): Eventually<string | undefined>;
  forget(sessionId: string): Eventually<unknown>;
}
