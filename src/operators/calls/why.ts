import type { ToolCallRecord, ToolFailure } from '../../../machines/tool-call/types.ts';
import type { CallLimits, CallRecord } from '../../../machines/voice-call/types.ts';
import { hangupText } from '../../protocol/operator/hangup-labels.ts';
import { span, when } from '../sessions/explain-facts.ts';
import type { CloseReason } from '../../../machines/voice-call/close-reasons.ts';

/** The state of a call, why it closed, and what is known of its hang-up, in a sentence or two. */
export function whyOfCall(
  call: CallRecord,
  tools: readonly ToolCallRecord[],
  limits: CallLimits,
  atMs: number,
): string {
  return [howItStands(call, limits, atMs), ...toolThatFailed(tools)].join(' ');
}

function howItStands(call: CallRecord, limits: CallLimits, atMs: number): string {
  const { state, providerCallId, createdAtMs, openedAtMs, closedAtMs, closeReason, hangup, unheardSinceMs } = call;
  const because = closeReason === null ? '' : `, because ${closedBecause(closeReason, limits)}`;
  const hungUp = `Hang-up: ${hangupText(call)}.`;
  if (state === 'creating' && providerCallId !== null)
    return `It was made ${when(createdAtMs)}, and nobody has joined or heard it yet.`;
  if (state === 'creating') return `The provider was asked for it ${when(createdAtMs)} and has not answered yet.`;
  if (state === 'closing') return [`It ${closing(call, atMs)}${because}. ${hungUp}`, ...next(call, atMs)].join(' ');
  if (state === 'closed') return `It closed ${when(closedAtMs ?? atMs)}${because}. ${hungUp}`;
  const since = openedAtMs ?? createdAtMs;
  const unheard = unheardSinceMs === null ? '' : ` Nobody here has heard it since ${when(unheardSinceMs)}.`;
  const asked = hangup === 'none' ? '' : ` ${hungUp}`;
  return `Still open, for ${span(atMs - since)} since ${when(since)}.${unheard}${asked}`;
}

/** An older version, which did not save when closing began, may have begun to close the call. */
function closing({ closingAtMs }: CallRecord, atMs: number): string {
  if (closingAtMs === null) return 'is closing';
  return `has been closing for ${span(atMs - closingAtMs)}, since ${when(closingAtMs)}`;
}

/** What happens next with a call that the provider has not begun to hang up, and that may still cost although it is over. */
function next(
  { hangup, hangupTries, nextTryAtMs, providerEndsAtMs, overAtMs }: CallRecord,
  atMs: number,
): readonly string[] {
  if (overAtMs !== null && overAtMs > atMs)
    return [
      `It is over; its page could open it again until ${when(overAtMs)}, so that it is hung up again until then.`,
    ];
  if (hangup !== 'none' || hangupTries === 0) return [];
  const tried =
    nextTryAtMs === null || nextTryAtMs <= atMs ? 'It is tried again' : `It is tried again at ${when(nextTryAtMs)}`;
  const until = providerEndsAtMs === null ? '' : ` until ${when(providerEndsAtMs)} at the latest`;
  return [`${tried}; the provider may go on billing${until}.`];
}

/** The last tool that gave the agent no answer, which is what visitors complain about. */
function toolThatFailed(tools: readonly ToolCallRecord[]): readonly string[] {
  const last = tools.findLast(({ code }) => code !== null);
  if (last?.code == null) return [];
  const { name, askedAtMs, untilMs, code, detail } = last;
  const more = detail === null ? '' : ` (${detail})`;
  return [`It asked ${name} at ${when(askedAtMs)}, ${whyFailed[code](`${(untilMs - askedAtMs) / 1000} s`)}${more}.`];
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

/** Why a call closed, in words that follow "because". */
export function closedBecause(reason: CloseReason, limits: CallLimits): string {
  return whyClosed[reason]?.(limits) ?? reason.replaceAll('_', ' ');
}

type WhyClosed = (limits: CallLimits) => string;

/** Why a call closed; a later version may add reasons. */
const whyClosed: Readonly<Record<string, WhyClosed | undefined>> = {
  session_ended: () => 'the session ended',
  session_idle: () => 'the session went idle',
  replaced: () => 'another call took its place',
  create_failed: () => 'the answer of the provider never reached the page',
  config_changed: () => 'its page changed, again and again, what its key does not let it change',
  tampered: () =>
    'its page asked, again and again, for more responses or longer ones than it may (MAX_OPEN_RESPONSES), or changed what it may not',
  tool_forged: () => 'its page answered, again and again, tools that Switchboard itself calls',
  tool_ended: () => 'a tool of its agent ended the session, and the agent had said its last words',
  unheard: ({ unheardSec }) =>
    `nobody here could hear its call, or count what it used, for ${unheardSec} s (SIDEBAND_LOST_SEC)`,
  expired: () => "the provider's own longest time was over",
  content: () => 'the provider ended it for what was said',
  remote: ({ graceSec }) =>
    `its page left the call or lost its network, and no other followed within ${graceSec} s (CALL_GRACE_SEC), or while another page could resume it`,
  lost: ({ graceSec }) =>
    `the provider knew its call no more, and no other followed within ${graceSec} s (CALL_GRACE_SEC), or while another page could resume it`,
} satisfies Record<CloseReason, WhyClosed>;
