import type { Kill } from '../support/kill-in-turn.ts';
import type { AskedTool } from './asking-call.ts';

/** The close code of a connection that ended without a close frame, as that of a killed process does. */
const NO_CLOSE_FRAME = 1006;
/** The stand-in notices this much later that the process is gone. */
const NOTICED_MS = 1000;

/** Why a tool call that a node was told of is not in the database. */
export type Loss =
  | { readonly why: 'dead' }
  /** Its node was killed `afterMs` after it was told. */
  | { readonly why: 'killed'; readonly afterMs: number }
  | { readonly why: 'unknown'; readonly words: string };

/**
 * Why a tool call is not in the database. There are two excuses: its node was already dead but its connections were not closed yet, or it was
 * killed before it saved the tool call, which may take no longer than it took for any other. Everything else is a fault of the service.
 * @param keptWithinMs the longest time from request to save of any other tool call
 */
export function lossOf({ atMs, end }: AskedTool, kills: readonly Kill[], keptWithinMs: number): Loss {
  const kill = kills.find(
    ({ sentAtMs, goneAtMs }) => end !== undefined && sentAtMs <= end.atMs && end.atMs <= goneAtMs + NOTICED_MS,
  );
  if (end === undefined) return { why: 'unknown', words: 'the node that was told of it is still connected' };
  if (kill === undefined || end.code !== NO_CLOSE_FRAME)
    return {
      why: 'unknown',
      words: `its node let go of the call ${end.atMs - atMs} ms later, and was not killed (${end.code})`,
    };
  const afterMs = kill.sentAtMs - atMs;
  if (afterMs <= 0) return { why: 'dead' };
  if (afterMs > keptWithinMs)
    return {
      why: 'unknown',
      words: `its node lived for ${afterMs} ms longer, and all others were kept within ${keptWithinMs} ms`,
    };
  return { why: 'killed', afterMs };
}
