import { wentOnUntilMs } from '../voice-call/selectors.ts';
import type { CallRecord } from '../voice-call/types.ts';
import type { Outcome } from './outcome.ts';
import type { HeldCallContext } from './types.ts';

// What nobody heard of a call that is metered by its events, and when the meter is told of it: once, and before the record is closed.

/** Since when nobody hears a closing call whose record does not say so yet. */
export function unsavedGapSinceMs({ record, gaps }: HeldCallContext): number | null {
  return record.state === 'closing' && record.unheardSinceMs === null ? gaps.closingSinceMs : null;
}

/** The sideband was lost. @param mayBeOver a try to hang up is under way, and may have ended the call */
export function lostSideband(call: HeldCallContext, at: number, mayBeOver: boolean): HeldCallContext {
  const { record, gaps } = call;
  if (!call.needsSideband || record.state !== 'closing' || record.hangup !== 'none') return call;
  return mayBeOver
    ? { ...call, gaps: { ...gaps, wentAtMs: gaps.wentAtMs ?? at } }
    : { ...call, gaps: { ...gaps, closingSinceMs: gaps.closingSinceMs ?? at } };
}

/** The call was taken over from a node that counted all until `sinceMs`; of one that is open that is told when it is heard again. */
export function takenOver(call: HeldCallContext, sinceMs: number, at: number): Outcome {
  const { record, gaps } = call;
  const { state, openedAtMs, unheardSinceMs, hangup } = record;
  if (!call.needsSideband || state !== 'closing' || openedAtMs === null) return [call, []];
  if (hangup === 'none') return [{ ...call, gaps: { ...gaps, closingSinceMs: unheardSinceMs ?? sinceMs } }, []];
  // Apart from what follows, because its owner may have told it.
  const [before, first] = told(call, unheardSinceMs, sinceMs);
  const [after, second] = told(before, sinceMs, wentOnUntilMs(record, at));
  return [after, [...first, ...second]];
}

/** The call is over or heard again, and its record is about to say so: what was not told until now never is. */
export function toldUntil(call: HeldCallContext, untilMs: number): Outcome {
  if (!call.needsSideband) return [call, []];
  const sinceMs = call.record.state === 'closing' ? call.gaps.closingSinceMs : unheardSinceMs(call, call.record);
  const [after, commands] = told(call, sinceMs, untilMs);
  return [{ ...after, gaps: { ...after.gaps, closingSinceMs: null } }, commands];
}

/** The record moved: what was unheard is told once it is heard again, or its hang-up was asked. */
export function movedOn(call: HeldCallContext, before: CallRecord, untilMs: number): Outcome {
  if (!call.needsSideband) return [call, []];
  const [left, first] = before.state === 'open' ? leftOpen(call, before, untilMs) : ([call, []] as const);
  const { record, gaps } = left;
  if (record.hangup === 'none' && record.state !== 'closed') {
    const isTried = record.hangupTries > before.hangupTries;
    return [
      isTried ? { ...left, gaps: { ...gaps, closingSinceMs: gaps.closingSinceMs ?? gaps.wentAtMs } } : left,
      first,
    ];
  }
  const [after, second] = told(left, gaps.closingSinceMs, untilMs);
  return [{ ...after, gaps: { ...after.gaps, closingSinceMs: null } }, [...first, ...second]];
}

function leftOpen(call: HeldCallContext, before: CallRecord, untilMs: number): Outcome {
  const { record, gaps, sideband } = call;
  const sinceMs = unheardSinceMs(call, before);
  const isClosing = record.state === 'closing';
  // In one with what follows: until it is told, whoever takes the call over tells it.
  if (isClosing && sideband.heardAtMs === null)
    return [{ ...call, gaps: { ...gaps, closingSinceMs: sinceMs ?? sideband.lostAtMs } }, []];
  return isClosing || record.unheardSinceMs === null ? told(call, sinceMs, untilMs) : [call, []];
}

/** Since when an open call is unheard and that was not told: since it was lost again, where the record could not say that it was heard. */
function unheardSinceMs({ gaps, sideband }: HeldCallContext, record: CallRecord): number | null {
  if (record.unheardSinceMs === null) return null;
  return record.unheardSinceMs > gaps.toldSinceMs ? record.unheardSinceMs : sideband.lostAtMs;
}

function told(call: HeldCallContext, sinceMs: number | null, untilMs: number): Outcome {
  const { gaps } = call;
  if (sinceMs === null || sinceMs <= gaps.toldSinceMs || untilMs <= sinceMs) return [call, []];
  return [{ ...call, gaps: { ...gaps, toldSinceMs: sinceMs } }, [{ type: 'gap', fromMs: sinceMs, untilMs }]];
}
