import type { ToolCallRecord, ToolFailure } from '../../../machines/tool-call/types.ts';
import type { CallLimits, CallRecord } from '../../../machines/voice-call/types.ts';
import { HANGUP_WORDS } from '../../protocol/languages/hangups.ts';
import { closedBecause } from '../sessions/explain.ts';
import { span, when } from '../sessions/explain-facts.ts';

/** How a call stands, why it closed, and what is known of its hang-up, in a sentence or two. */
export function whyOfCall(
  call: CallRecord,
  tools: readonly ToolCallRecord[],
  limits: CallLimits,
  atMs: number,
): string {
  return [howItStands(call, limits, atMs), ...toolThatFailed(tools)].join(' ');
}

function howItStands(call: CallRecord, limits: CallLimits, atMs: number): string {
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

/** The last tool that gave the agent no answer: what visitors complain of. */
function toolThatFailed(tools: readonly ToolCallRecord[]): readonly string[] {
  const last = tools.findLast(({ code }) => code !== null);
  if (last?.code == null) return [];
  const { name, askedAtMs, untilMs, code } = last;
  return [`It asked ${name} ${when(askedAtMs)}, ${whyFailed[code](span(untilMs - askedAtMs))}.`];
}

const whyFailed: Readonly<Record<ToolFailure, (allowed: string) => string>> = {
  failed: () => 'which failed',
  timed_out: (allowed) => `which did not answer within ${allowed}`,
  too_large: () => 'whose answer was too large',
  unreachable: () => 'whose server could not be reached',
  interrupted: () => 'which was interrupted, because another process took the call',
  too_many: () => 'for which too many requests were under way',
  bad_arguments: () => 'with arguments that are not what it requires',
};
