import type { ToolCallRecord } from '../../../machines/tool-call/types.ts';
import { iso } from '../../kernel/time.ts';
import type { About, OperatorEvent } from '../../protocol/operator/event.ts';
import type { Entry } from '../../stores/journal/contract.ts';
import type { SessionUsage } from '../../stores/usage-reports/contract.ts';
import type { WebhookDelivery } from '../../stores/webhooks/contract.ts';
import { toOperatorToolCall } from '../calls/view.ts';
import { toAuditRow, viewOfEvent, viewOfRefusal } from '../journal/view.ts';
import { eventSeenBy, nodeSeenBy, type Operator } from '../roles.ts';

type RowFields = Pick<OperatorEvent, 'id' | 'at' | 'kind' | 'about' | 'event' | 'detail'> & Partial<OperatorEvent>;

/** A row for something that no machine did. */
function rowOf(told: RowFields): OperatorEvent {
  const record = { version: null, lastSeenAt: null, lastActivityAt: null, settledAt: null };
  return { from: null, to: null, steps: [], guards: [], record, node: null, requestId: null, ...told };
}

/** An entry of the journal as a row of a session's timeline. */
export function journalRow(
  entry: Entry<'transition' | 'note' | 'act' | 'refusal'>,
  about: About,
  operator: Operator,
): OperatorEvent {
  const { atMs, ordinal, requestId } = entry;
  const common = { id: String(ordinal), at: iso(atMs), about, requestId };
  if (entry.kind === 'act') {
    const { actor, role, action, reason, result } = toAuditRow(entry, operator);
    return rowOf({ ...common, kind: 'act', event: action, detail: { actor, role, reason, result } });
  }
  if (entry.kind === 'refusal') {
    const { code, status, sentence, node } = viewOfRefusal(entry, operator.tenants);
    const seen = nodeSeenBy(operator, node);
    return rowOf({ ...common, kind: 'refusal', event: code, detail: { status, sentence }, node: seen });
  }
  const event = eventSeenBy(operator, { ...viewOfEvent(entry, String(ordinal)), about });
  const call = entry.of.target ?? null;
  return about === 'call' ? { ...event, detail: { ...event.detail, call } } : event;
}

/** Usage that was added at once: by a response, by a client's report, or by time. */
export function usageRow({ atMs, ordinal, tokens, microDollars, ...entry }: SessionUsage): OperatorEvent {
  const { callId: call, basis, model, isEstimated } = entry;
  const detail = { tokens, dollars: microDollars / 1e6, basis, model, isEstimated, call };
  return rowOf({ id: `u${ordinal}`, at: iso(atMs), kind: 'usage', about: 'usage', event: null, detail });
}

/** Tool calls in the order in which they were requested, each with its number among those of the same instant, from 1. */
export function toolCallsInOrder(calls: readonly ToolCallRecord[]): (readonly [number, ToolCallRecord])[] {
  const seen = new Map<number, number>();
  return calls.map((call) => {
    const ordinal = (seen.get(call.askedAtMs) ?? 0) + 1;
    seen.set(call.askedAtMs, ordinal);
    return [ordinal, call];
  });
}

/** A tool call, without its arguments and answer, which are never kept. */
export function toolRow(record: ToolCallRecord, ordinal: number, atMs: number): OperatorEvent {
  const { name, state, code, detail, endReason, askedAt, ms } = toOperatorToolCall(record, atMs);
  return rowOf({
    id: `t${record.askedAtMs}-${ordinal}`,
    at: askedAt,
    kind: 'tool',
    about: 'tool',
    event: name,
    detail: { state, code, detail, endReason, ms, call: record.callId },
  });
}

export function deliveryRow(delivery: WebhookDelivery): OperatorEvent {
  const { eventId, endpointId, type, atMs, state, attempts, lastStatus, lastCode, ms } = delivery;
  return rowOf({
    id: `${eventId}-${endpointId}`,
    at: iso(atMs),
    kind: 'delivery',
    about: 'webhook',
    event: type,
    detail: { state, lastStatus, lastCode, attempts, ms, webhook: endpointId, delivery: eventId },
  });
}
