import type { CallLimits, CallRecord } from '../../../machines/voice-call/types.ts';
import { HANGUP_WORDS } from '../../protocol/languages/hangups.ts';
import { closedBecause } from '../sessions/explain.ts';
import { span, when } from '../sessions/explain-facts.ts';

/** How a call stands, why it closed, and what is known of its hang-up, in a sentence or two. */
export function whyOfCall(call: CallRecord, limits: CallLimits, atMs: number): string {
  const { state, createdAtMs, openedAtMs, closedAtMs, closeReason, hangup, hangupTries, unheardSinceMs } = call;
  const because = closeReason === null ? '' : `, because ${closedBecause(closeReason, limits)}`;
  const tries = hangupTries === 1 ? ' (1 try)' : hangupTries > 1 ? ` (${hangupTries} tries)` : '';
  const hungUp = `Hang-up: ${HANGUP_WORDS[hangup]}${tries}.`;
  if (state === 'creating') return `The provider was asked for it ${when(createdAtMs)} and has not answered yet.`;
  if (state === 'closing') return `It is closing${because}. ${hungUp}`;
  if (state === 'closed') return `It closed ${when(closedAtMs ?? atMs)}${because}. ${hungUp}`;
  const since = openedAtMs ?? createdAtMs;
  const unheard = unheardSinceMs === null ? '' : ` Nobody here has heard it since ${when(unheardSinceMs)}.`;
  const asked = hangup === 'none' ? '' : ` ${hungUp}`;
  return `Still open, for ${span(atMs - since)} since ${when(since)}.${unheard}${asked}`;
}
