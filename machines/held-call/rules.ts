import { tryDelayMs } from '../voice-call/hang-up-tries.ts';
import { provesOver, wentOnUntilMs } from '../voice-call/selectors.ts';
import type { CallEvent, CallRecord } from '../voice-call/types.ts';
import { withoutAsking } from './conversation.ts';
import { settledOf, withInherited, withoutSideband, withSideband, type Settled } from './responses.ts';
import type { EventOf, HeldCallCommand, HeldCallContext, HeldCallEvent, Outcome, SaveStep } from './types.ts';

/** Applies rules one after another. */
export function inOrder(call: HeldCallContext, ...rules: readonly ((call: HeldCallContext) => Outcome)[]): Outcome {
  return rules.reduce<Outcome>(
    ([before, commands], rule) => {
      const [after, more] = rule(before);
      return [after, [...commands, ...more]];
    },
    [call, []],
  );
}

/** Whether the call's cost is heard, or need not be. */
function isAccountedFor(call: HeldCallContext): boolean {
  return !call.needsSideband || isHeard(call);
}

/** Whether the sideband is attached. */
export function isHeard({ sideband }: HeldCallContext): boolean {
  return sideband.heardAtMs !== null;
}

/** Until when the call may have gone on: not after a hang-up that could not be saved. */
function latestMs({ end }: HeldCallContext, at: number): number {
  return Math.min(at, end.unsaved.doneAtMs ?? at);
}

const FIRST_DELAY_MS = 100;
const LAST_DELAY_MS = 2000;
/** How long to wait for the answer to an unsaved hang-up, also where it could not even start. */
const TRY_MS = 1000;
/** A hang-up that has been due for this long is blocked by a database that is away: the provider is asked anyway. */
const OVERDUE_MS = 1000;

/** Takes the settled responses and charges their estimates. */
export function charged(call: HeldCallContext, [responses, estimates]: Settled): Outcome {
  return [{ ...call, responses }, estimates.map(({ key, tokens }) => ({ type: 'charge', key, tokens }))];
}

/**
 * The sideband is attached. Responses that were running when the last one was lost may have ended unheard; they are asked to end, so that their cost
 * is reported.
 */
export function attached(call: HeldCallContext, { at }: EventOf<'ATTACHED'>): HeldCallContext {
  const sideband = { ...call.sideband, heardAtMs: at, failures: 0, isLeft: false };
  return { ...call, sideband, responses: withSideband(call.responses, at) };
}

export function dialFailed(call: HeldCallContext, { at, isOver, jitter }: EventOf<'DIAL_FAILED'>): HeldCallContext {
  const failures = call.sideband.failures + 1;
  const sideband = { ...call.sideband, failures, dialAtMs: at + pauseMs(failures, jitter) };
  return { ...call, sideband, end: isOver ? saidLost(call.end) : call.end };
}

export function lost(call: HeldCallContext, event: EventOf<'SIDEBAND_LOST' | 'LEASE_LOST'>): Outcome {
  const { at, jitter } = event;
  const isLeft = event.type === 'SIDEBAND_LOST' && event.isLeft;
  const mayBeOver = event.type === 'SIDEBAND_LOST' && event.isHangUpUnderWay;
  const { failures } = call.sideband;
  const sideband = { heardAtMs: null, lostAtMs: at, failures, dialAtMs: at + pauseMs(failures, jitter), isLeft };
  // If the provider itself closed the sideband, that is the second witness that the call is over.
  const end = isLeft && call.record.overAtMs !== null ? saidLost(call.end) : call.end;
  const responses = withoutAsking(withoutSideband(call.responses, at));
  const next = lostSideband({ ...call, sideband, end, responses }, at, mayBeOver);
  return [next, event.type === 'LEASE_LOST' ? [{ type: 'closeSideband' }] : []];
}

/** The call is no longer heard, and this is no fault. */
export function closed(call: HeldCallContext): Outcome {
  return [{ ...call, sideband: { ...call.sideband, heardAtMs: null } }, [{ type: 'closeSideband' }]];
}

/** Hands the call to another node, which hears it from then on. */
export function handedOver(call: HeldCallContext, { at }: EventOf<'HAND_OVER'>): Outcome {
  if (!isHeard(call)) return closed(call);
  const sideband = { ...call.sideband, lostAtMs: at };
  return closed(lostSideband({ ...call, sideband }, at, false));
}

export function taken(call: HeldCallContext, { at, sinceMs }: EventOf<'TAKEN'>): Outcome {
  return takenOver({ ...call, responses: withInherited(call.responses, call.terms, sinceMs) }, sinceMs, at);
}

/** Takes the current record. */
export function recorded(call: HeldCallContext, { at, record }: EventOf<'RECORD'>): Outcome {
  const before = call.record;
  const untilMs = latestMs(call, at);
  const closingAtMs = before.state !== 'closing' && record.state === 'closing' ? at : call.end.closingAtMs;
  const next: HeldCallContext = { ...call, record, end: { ...call.end, closingAtMs } };
  const commands: HeldCallCommand[] = [];
  if (before.state === 'open' && record.state !== 'open')
    commands.push({ type: 'left', openedAtMs: record.openedAtMs, untilMs });
  if (record.hangup === 'confirmed' && closingAtMs !== null)
    commands.push({ type: 'confirmed', afterMs: at - closingAtMs });
  return inOrder(
    next,
    (present) => movedOn(present, before, untilMs),
    (present) => [present, commands],
    (present) => (record.state === 'closed' ? charged(present, settledResponses(present, at)) : [present, []]),
  );
}

/** Counts everything before the record closes: afterwards nobody marks what was not counted. */
export function settled(call: HeldCallContext, at: number): Outcome {
  return inOrder(
    call,
    (present) => charged(present, settledResponses(present, at)),
    (present) => toldUntil(present, latestMs(present, at)),
  );
}

/** Responses ran at most until the provider said that the call is over. */
function settledResponses({ responses, terms, record }: HeldCallContext, at: number): Settled {
  return settledOf(responses, terms, Math.min(at, record.overAtMs ?? at));
}

/** If a saved hang-up does not happen, the provider is asked without saving. */
export function chased(call: HeldCallContext, at: number): Outcome {
  const { state, nextTryAtMs } = call.record;
  const isDue = state === 'closing' && at >= (nextTryAtMs ?? Infinity);
  const dueSinceMs = isDue ? (call.end.dueSinceMs ?? at) : null;
  const next = dueSinceMs === call.end.dueSinceMs ? call : { ...call, end: { ...call.end, dueSinceMs } };
  return dueSinceMs !== null && at - dueSinceMs >= OVERDUE_MS ? hungUpUnsaved(next, at) : [next, []];
}

/** Hangs up a call whose end cannot be saved because the database is away, no more often than necessary. */
export function hungUpUnsaved(call: HeldCallContext, at: number): Outcome {
  const { record, created, end } = call;
  const providerCallId = record.providerCallId ?? created?.providerCallId ?? null;
  if (providerCallId === null || end.unsaved.doneAtMs !== null || at < end.unsaved.tryAtMs) return [call, []];
  const unsaved = { ...end.unsaved, tryAtMs: at + TRY_MS };
  return [{ ...call, end: { ...end, unsaved } }, [{ type: 'hangUp', providerCallId, askedAtMs: at }]];
}

export function unsavedAnswered(
  call: HeldCallContext,
  { askedAtMs, answer }: EventOf<'UNSAVED_HANGUP_ANSWERED'>,
): HeldCallContext {
  const { unsaved } = call.end;
  const tries = unsaved.tries + 1;
  // A provider that says it no longer knows the call is believed only if it had begun to end the call.
  const doneAtMs = answer !== 'failed' && unsaved.isAsked ? askedAtMs : unsaved.doneAtMs;
  const isAsked = unsaved.isAsked || answer === 'asked';
  return {
    ...call,
    end: { ...call.end, unsaved: { tries, isAsked, tryAtMs: askedAtMs + tryDelayMs(tries), doneAtMs } },
  };
}

function saidLost(end: HeldCallContext['end']): HeldCallContext['end'] {
  return { ...end, said: end.said ?? 'lost' };
}

/** 0.1 to 2 s, jittered, so that not all nodes dial a returning provider at once. */
function pauseMs(failures: number, jitter: number): number {
  return Math.max(FIRST_DELAY_MS, jitter * Math.min(LAST_DELAY_MS, FIRST_DELAY_MS * 2 ** (failures + 1)));
}

// What nobody heard of a call that is metered by its events, and when the meter is told about it: once, and before the record is closed.

/** Since when nobody has heard a closing call, while its record does not say so yet. */
function unsavedGapSinceMs({ record, gaps }: HeldCallContext): number | null {
  return record.state === 'closing' && record.unheardSinceMs === null ? gaps.closingSinceMs : null;
}

/** The sideband was lost. @param mayBeOver a try to hang up is under way, and may have ended the call */
function lostSideband(call: HeldCallContext, at: number, mayBeOver: boolean): HeldCallContext {
  const { record, gaps } = call;
  if (!call.needsSideband || record.state !== 'closing' || record.hangup !== 'none') return call;
  return mayBeOver
    ? { ...call, gaps: { ...gaps, wentAtMs: gaps.wentAtMs ?? at } }
    : { ...call, gaps: { ...gaps, closingSinceMs: gaps.closingSinceMs ?? at } };
}

/** The call was taken over from a node that counted everything until `sinceMs`. For an open call, the gap is told once it is heard again. */
function takenOver(call: HeldCallContext, sinceMs: number, at: number): Outcome {
  const { record, gaps } = call;
  const { state, openedAtMs, unheardSinceMs, hangup } = record;
  if (!call.needsSideband || state !== 'closing' || openedAtMs === null) return [call, []];
  if (hangup === 'none') return [{ ...call, gaps: { ...gaps, closingSinceMs: unheardSinceMs ?? sinceMs } }, []];
  // Kept apart from the next gap, because the previous owner may have told this one.
  const [before, first] = told(call, unheardSinceMs, sinceMs);
  const [after, second] = told(before, sinceMs, wentOnUntilMs(record, at));
  return [after, [...first, ...second]];
}

/** The call is over or heard again, and its record is about to say so: a gap that is not told now never will be. */
function toldUntil(call: HeldCallContext, untilMs: number): Outcome {
  if (!call.needsSideband) return [call, []];
  const sinceMs = call.record.state === 'closing' ? call.gaps.closingSinceMs : unheardSinceMs(call, call.record);
  const [after, commands] = told(call, sinceMs, untilMs);
  return [{ ...after, gaps: { ...after.gaps, closingSinceMs: null } }, commands];
}

/** The record moved on: a gap is told once the call is heard again, or its hang-up was asked for. */
function movedOn(call: HeldCallContext, before: CallRecord, untilMs: number): Outcome {
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
  // Part of the gap that follows: until that is told, a node that takes the call over tells it.
  if (isClosing && !isHeard(call))
    return [{ ...call, gaps: { ...gaps, closingSinceMs: sinceMs ?? sideband.lostAtMs } }, []];
  return isClosing || record.unheardSinceMs === null ? told(call, sinceMs, untilMs) : [call, []];
}

/** Since when an open call has been unheard and untold: from the last loss, if the record could not say that the call was heard in between. */
function unheardSinceMs({ gaps, sideband }: HeldCallContext, record: CallRecord): number | null {
  if (record.unheardSinceMs === null) return null;
  return record.unheardSinceMs > gaps.toldSinceMs ? record.unheardSinceMs : sideband.lostAtMs;
}

function told(call: HeldCallContext, sinceMs: number | null, untilMs: number): Outcome {
  const { gaps } = call;
  if (sinceMs === null || sinceMs <= gaps.toldSinceMs || untilMs <= sinceMs) return [call, []];
  return [{ ...call, gaps: { ...gaps, toldSinceMs: sinceMs } }, [{ type: 'gap', fromMs: sinceMs, untilMs }]];
}

// What the record does not say yet is saved step by step, in this order.

const STEPS: readonly SaveStep[] = ['created', 'over', 'close', 'unheard', 'heard', 'lost'];

const isDue: Readonly<Record<SaveStep, (call: HeldCallContext) => boolean>> = {
  created: ({ created, record }) => created !== null && record.providerCallId === null,
  over: ({ end }) => end.said !== null,
  close: ({ end, record }) => end.wanted !== null && record.closeReason === null,
  unheard: (call) => unsavedGapSinceMs(call) !== null,
  heard: (call) => call.record.state === 'open' && isAccountedFor(call) && call.record.unheardSinceMs !== null,
  lost: (call) => call.record.state === 'open' && !isAccountedFor(call) && call.record.unheardSinceMs === null,
};

/** What to save next; undefined when there is nothing. @param after the step before */
export function nextStep(call: HeldCallContext, after: SaveStep | null = null): SaveStep | undefined {
  return STEPS.slice(after === null ? 0 : STEPS.indexOf(after) + 1).find((step) => isDue[step](call));
}

/** Whether there is anything to save besides what the code that opens the call saves itself. */
export function hasNews(call: HeldCallContext): boolean {
  return isDue.over(call) || isDue.close(call) || isDue.unheard(call) || isDue.heard(call) || isDue.lost(call);
}

/** Starts to save the next step. */
export function beginStep(call: HeldCallContext, { at }: HeldCallEvent, after: SaveStep | null): Outcome {
  const step = nextStep(call, after);
  if (step === undefined) return [{ ...call, saving: null }, []];
  const next: HeldCallContext = { ...call, saving: { step, atMs: at } };
  // Hang-ups that are under way are answered first, because what the provider says may result from them.
  if (step === 'over') return [next, [{ type: 'awaitHangUps' }]];
  if (step !== 'heard') return [next, [{ type: 'save', event: events[step](call, at), isCountedFirst: false }]];
  // Counted first: once this is saved, the record no longer shows the gap.
  const [counted, gaps] = toldUntil(next, at);
  return [counted, [...gaps, { type: 'save', event: events[step](call, at), isCountedFirst: true }]];
}

/** Saves that the provider says the call is over. */
export function saveOver(call: HeldCallContext, { at: now }: HeldCallEvent): Outcome {
  const at = call.saving?.atMs ?? now;
  const event = events.over(call, at);
  const isProved = provesOver(call.record, event);
  const [next, commands] = isProved ? settled(call, now) : ([call, []] as const);
  return [next, [...commands, { type: 'save', event, isCountedFirst: isProved }]];
}

const events: Readonly<Record<SaveStep, (call: HeldCallContext, at: number) => CallEvent>> = {
  created: ({ created }, at) => ({ type: 'CREATED', at, providerCallId: '', providerEndsAtMs: at, ...created }),
  over: ({ end, sideband }, at) => ({ type: 'OVER', at, reason: end.said ?? 'lost', isLeft: sideband.isLeft }),
  close: ({ end }, at) => ({ type: 'CLOSE', at, reason: end.wanted ?? 'session_ended' }),
  unheard: (call, at) => ({ type: 'SIDEBAND_LOST', at: unsavedGapSinceMs(call) ?? at }),
  heard: (_call, at) => ({ type: 'READY', at }),
  lost: ({ sideband }, at) => ({ type: 'SIDEBAND_LOST', at: sideband.lostAtMs ?? at }),
};

/** A step is saved, and the next one starts; what the provider said is saved only once. */
export function continueSaving(call: HeldCallContext, event: HeldCallEvent): Outcome {
  return beginStep(savedStep(call), event, call.saving?.step ?? null);
}

export function savedStep(call: HeldCallContext): HeldCallContext {
  return call.saving?.step === 'over' ? { ...call, end: { ...call.end, said: null } } : call;
}
