import { noResponses } from './responses.ts';
import type { HeldCallContext, HeldCallInput } from './types.ts';

/** A call as this node begins to hold it. */
export function heldCallContext(input: HeldCallInput): HeldCallContext {
  return {
    ...input,
    fence: input.record.fence,
    created: null,
    sideband: { heardAtMs: null, lostAtMs: null, failures: 0, dialAtMs: -Infinity, isLeft: false },
    end: {
      said: null,
      wanted: null,
      closingAtMs: null,
      dueSinceMs: null,
      unsaved: { tries: 0, isAsked: false, tryAtMs: -Infinity, doneAtMs: null },
    },
    gaps: { closingSinceMs: null, wentAtMs: null, toldSinceMs: -Infinity },
    responses: noResponses(input.terms),
    saving: null,
    isMoreToSave: false,
  };
}

/** Whether what the call costs is heard, or need not be. */
export function isHeard({ needsSideband, sideband }: HeldCallContext): boolean {
  return !needsSideband || sideband.heardAtMs !== null;
}

/** Until when the call may have gone on: not after it was hung up while that could not be saved. */
export function latestMs({ end }: HeldCallContext, at: number): number {
  return Math.min(at, end.unsaved.doneAtMs ?? at);
}
