import { assertEvent } from 'xstate';
import { SECOND_MS } from '../durations.ts';
import { askAgainMs, askDelayMs, tryDelayMs } from './hang-up-tries.ts';
import type { CallEvent, CallLimits, CallRecord, Door } from './types.ts';

// What is known about a hang-up after each answer of the provider.

/** After this long, a hang-up that the provider has begun is asked for once more, to check that it is done. */
const CONFIRM_MS = 1000;
export const NOTHING_SAID = { overAtMs: null, overDoor: null } as const;

/** Keeps the time and door of the provider's first report that the call is over: a second one is compared with it. */
export function saidOver({ overAtMs, overDoor }: CallRecord, at: number, door: Door, { returnSec = 0 }: CallLimits) {
  return overAtMs === null ? { overAtMs: at + returnSec * SECOND_MS, overDoor: door } : { overAtMs, overDoor };
}

/** The change of a call after a try to hang it up. */
export function answeredHangup(context: CallRecord, event: CallEvent, limits: CallLimits): Partial<CallRecord> {
  assertEvent(event, 'HANGUP_ANSWERED');
  const { at, answer, dialled } = event;
  const hangupTries = context.hangupTries + 1;
  const tried = { hangupTries, nextTryAtMs: at + tryDelayMs(hangupTries) };
  if (answer === 'failed') return tried;
  if (dialled === 'known') return { ...tried, ...NOTHING_SAID };
  if (answer === 'asked' && context.hangup !== 'asked')
    return { ...NOTHING_SAID, hangup: 'asked', hangupTries, nextTryAtMs: at + CONFIRM_MS };
  const mayReturn = limits.returnSec !== undefined;
  // There was something to hang up again: its page had opened the call again.
  const before = mayReturn && answer === 'asked' ? { ...context, ...NOTHING_SAID } : context;
  const said = saidOver(before, at, 'hangup', limits);
  const isBegun = context.hangup === 'asked';
  return {
    ...said,
    hangupTries,
    nextTryAtMs: isBegun || mayReturn ? at + askDelayMs(hangupTries) : askAgainMs(said.overAtMs, at),
  };
}
