import type { Kill } from '../support/kill-in-turn.ts';
import type { AskedTool } from './asking-call.ts';

/** A connection of a killed process ends without a close frame. */
const NO_CLOSE_FRAME = 1006;
/** The stand-in notices so much later that the process is gone. */
const NOTICED_MS = 1000;

/** Why a call of a tool was told to a node, and nobody knows of it. */
export type Loss =
  | { readonly why: 'dead' }
  /** Its node was killed so long after it was told of it. */
  | { readonly why: 'killed'; readonly afterMs: number }
  | { readonly why: 'unknown'; readonly words: string };

/**
 * Why nobody knows of a call of a tool: its node was dead already, and only its connections were not closed yet; or was killed before it had
 * kept it, which takes at most as long as it took for any other. All else is a fault of the service.
 * @param keptWithinMs the longest that any other took from asked to kept
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
