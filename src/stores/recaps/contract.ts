import type { Eventually } from '../../kernel/eventually.ts';

/**
 * What was said last in each session, sealed, for its next call. It may be lost at any time: then that call knows nothing of what was said
 * before. @throws Unavailable when the store is away
 */
export interface Recaps {
  /** Keeps a session's recap until `untilMs`, in the place of the one before. */
  keep(sessionId: string, sealed: string, untilMs: number, atMs: number): Eventually<unknown>;
  /** Undefined where there is none, or none any more. */
  find(sessionId: string, atMs: number): Eventually<string | undefined>;
  forget(sessionId: string): Eventually<unknown>;
}
