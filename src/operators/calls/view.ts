import { classify } from '../../../machines/tool-call/selectors.ts';
import type { ToolCallRecord, ToolFailure } from '../../../machines/tool-call/types.ts';
import type { CallRecord, CallLimits } from '../../../machines/voice-call/types.ts';
import { nodeSeenBy, seesWholeIds, type Operator } from '../roles.ts';
import type { ListedOperatorCall, OperatorCall, OperatorToolCall } from '../../protocol/operator/call.ts';
import { transcriptionOf } from '../../protocol/behaviour.ts';
import { NO_TOKENS } from '../../protocol/price.ts';
import type { CallMeter } from '../../stores/ledger/contract.ts';
import { refOf } from '../../kernel/ids.ts';
import { iso, isoOrNull } from '../../kernel/time.ts';
import type { ListedCall } from '../../stores/voice-calls/contract.ts';
import type { SessionSetup } from '../../stores/session-setups/contract.ts';
import type { UpstreamProvider } from '../../upstream/contract.ts';
import type { OperatorServices } from '../services.ts';
import { hangupText } from '../../protocol/operator/hangup.ts';
import { span, when } from '../sessions/explain-facts.ts';
import type { CloseReason } from '../../../machines/voice-call/close-reasons.ts';

/** The calls of a session, newest first, and the meters of those that used something. */
export interface SessionCalls {
  readonly records: readonly CallRecord[];
  readonly meters: readonly CallMeter[];
}

/** @throws Unavailable when the database is away */
export async function callsOf(sessionId: string, { calls, core }: OperatorServices): Promise<SessionCalls> {
  return withMeters(await calls.ofSession(sessionId), core);
}

async function withMeters(records: readonly CallRecord[], { stores }: OperatorServices['core']): Promise<SessionCalls> {
  return { records, meters: records.length === 0 ? [] : await stores.ledger.metersOf(records.map(({ id }) => id)) };
}

/** Calls as an operator sees them: the provider's id, which can end a call there, and the node are shown only to operators who may see them. */
export function toOperatorCalls({ records, meters }: SessionCalls, operator: Operator): OperatorCall[] {
  return records.map((record) => toOperatorCall(record, meters, operator));
}

/** Calls of any sessions, each with its owner and its cost so far. @throws Unavailable when the database is away */
export async function toListedCalls(
  rows: readonly ListedCall[],
  operator: Operator,
  { core }: OperatorServices,
): Promise<ListedOperatorCall[]> {
  const { meters } = await withMeters(
    rows.map(({ record }) => record),
    core,
  );
  return rows.map(({ record, agentId }) => {
    const { sessionId, tenantId, keyId, createdAtMs } = record;
    const call = toOperatorCall(record, meters, operator);
    return { ...call, session: refOf(sessionId), tenantId, keyId, agentId, createdAt: iso(createdAtMs) };
  });
}

/** The tool calls of a voice call, in the order in which they were requested. @throws Unavailable when the database is away */
export async function toolCallsOf(
  { id, sessionId }: Pick<CallRecord, 'id' | 'sessionId'>,
  { core: { stores } }: OperatorServices,
): Promise<readonly ToolCallRecord[]> {
  return (await stores.toolCalls.ofSession(sessionId)).filter(({ callId }) => callId === id);
}

/** Shows the state as of `atMs`: an end may never have been saved, if the database was away until the voice call was over and its node gone. */
export function toOperatorToolCall(record: ToolCallRecord, atMs: number): OperatorToolCall {
  const { name, code, detail, endReason, askedAtMs, ms, tries } = record;
  return { name, state: classify(record, atMs), code, detail, endReason, askedAt: iso(askedAtMs), ms, tries };
}

/** Whether what visitors say in a call is transcribed; null where the session's setup is gone or the provider is another one now. */
export function captionsOf(
  { provider: name }: CallRecord,
  setup: SessionSetup | undefined,
  provider: Pick<UpstreamProvider, 'name' | 'capabilities'>,
): boolean | null {
  if (setup === undefined || name !== provider.name) return null;
  return provider.capabilities.converses && transcriptionOf(setup.behaviour ?? {}) !== undefined;
}

function toOperatorCall(record: CallRecord, meters: readonly CallMeter[], operator: Operator): OperatorCall {
  const meter = meters.find(({ callId }) => callId === record.id);
  const { id, provider, model, state, providerCallId, openedAtMs, closingAtMs, overAtMs, closedAtMs } = record;
  const { closeReason, hangup, hangupTries } = record;
  return {
    ref: id,
    provider,
    model,
    state,
    providerCallId: seesWholeIds(operator) ? providerCallId : null,
    openedAt: isoOrNull(openedAtMs),
    closingAt: isoOrNull(closingAtMs),
    overAt: isoOrNull(overAtMs),
    closedAt: isoOrNull(closedAtMs),
    closeReason,
    hangup,
    hangupTries,
    basis: meter?.basis ?? null,
    tokens: meter?.tokens ?? NO_TOKENS,
    microDollars: meter?.microDollars ?? 0,
    estimatedMicroDollars: meter?.estimatedMicroDollars ?? 0,
    gapSec: Math.round((meter?.gapMs ?? 0) / 1000),
    ownerNode: nodeSeenBy(operator, record.ownerNode),
  };
}

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
