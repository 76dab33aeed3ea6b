import { provesOver } from '../voice-call/selectors.ts';
import type { CallEvent } from '../voice-call/types.ts';
import { isAccountedFor, settled, toldUntil, unsavedGapSinceMs } from './rules.ts';
import type { HeldCallContext, HeldCallEvent, SaveStep, Outcome } from './types.ts';

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
  const [told, gaps] = toldUntil(next, at);
  return [told, [...gaps, { type: 'save', event: events[step](call, at), isCountedFirst: true }]];
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
