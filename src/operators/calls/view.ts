import { classify } from '../../../machines/tool-call/selectors.ts';
import type { ToolCallRecord } from '../../../machines/tool-call/types.ts';
import type { CallRecord } from '../../../machines/voice-call/types.ts';
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
