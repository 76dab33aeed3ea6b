import type { Route } from '../../http/route.ts';
import { sample } from '../../http/samples.ts';
import type { Services } from '../../http/services.ts';
import { refOf } from '../../kernel/ids.ts';
import {
  deliveryDetail,
  deliveryFilters,
  deliveryPage,
  type OperatorDelivery,
  replayReply,
  replayRequest,
  sessionDeliveries,
} from '../../protocol/operator/webhook.ts';
import { Refusal, wrongField } from '../../protocol/refusal.ts';
import { countReplay, noDelivery, replayMany, replayOne } from '../../webhooks/endpoints.ts';
import { actBy, findNamed, NAMED, operatorRoute, sessionParams } from '../operator-route.ts';
import { exampleWebhook, findWebhook, webhookParams } from './routes.ts';
import { done, string, onlyReason } from '../../protocol/fields.ts';
import { iso, isoOrNull } from '../../kernel/time.ts';
import type { WebhookDelivery } from '../../stores/webhooks/contract.ts';
import { urlSeenBy } from '../roles.ts';
import { pageEnd, readCursor } from '../pagination.ts';

/** Deliveries that are listed for one session. */
const MAX_OF_SESSION = 100;

const exampleDelivery: OperatorDelivery = {
  event: 'evt_Zq3v0m8XcQf1rT6uYp2sLw',
  webhook: exampleWebhook.id,
  type: 'session.settled',
  session: refOf(sample.sm_session_id),
  at: '2030-01-01T12:06:00.000Z',
  state: 'delivered',
  attempts: 1,
  nextAt: null,
  doneAt: '2030-01-01T12:06:00.412Z',
  lastAt: '2030-01-01T12:06:00.412Z',
  lastStatus: 204,
  lastCode: null,
  ms: 96,
};

const deliveryParams = webhookParams.extend({
  event: string('The id of the event', exampleDelivery.event),
});

export function deliveriesRoute(services: Services): Route {
  return operatorRoute({
    method: 'GET',
    path: '/api/operator/webhooks/{id}/deliveries',
    operationId: 'listDeliveries',
    summary: 'List the deliveries to a webhook, sent and waiting, newest first',
    params: webhookParams,
    query: deliveryFilters,
    reply: {
      description: 'A page of deliveries',
      schema: deliveryPage,
      example: {
        deliveries: [exampleDelivery],
        nextCursor: null,
        asOf: '2030-01-01T12:07:00.000Z',
        searchedTo: null,
      },
    },
    refusals: ['NOT_FOUND'],
    handle: async (call, { cursor, limit, state, type, session }) => {
      const after = readCursor(cursor, [0, ''] as const);
      if (after instanceof Refusal) return after;
      const found = await findWebhook(call, services);
      if (found instanceof Refusal) return found;
      const filter = { endpointId: found.id, state, type, session };
      const { webhooks } = services.webhooks.endpoints;
      const page = await webhooks.deliveries(filter, after && { atMs: after[0], eventId: after[1] }, limit);
      const deliveries = page.rows.map(toOperatorDelivery);
      const end = pageEnd(page, call.request.atMs, ({ atMs, eventId }) => [atMs, eventId]);
      return { deliveries, ...end };
    },
  });
}

export function deliveryRoute(services: Services): Route {
  return operatorRoute({
    method: 'GET',
    path: '/api/operator/webhooks/{id}/deliveries/{event}',
    operationId: 'getDelivery',
    summary: 'Get one delivery to a webhook, with the body that is sent',
    params: deliveryParams,
    reply: {
      description: 'The delivery',
      schema: deliveryDetail,
      example: {
        ...exampleDelivery,
        body: '{"type":"session.settled","timestamp":"2030-01-01T12:06:00.000Z","data":{}}',
      },
    },
    refusals: ['NOT_FOUND'],
    find: (call) => findWebhook(call, services),
    handle: async (call, _query, found) => {
      const delivery = await services.webhooks.endpoints.webhooks.delivery(found.id, call.params[1] ?? '');
      if (delivery === undefined) return noDelivery();
      return { ...toOperatorDelivery(delivery), body: delivery.body };
    },
  });
}

export function replayRoute(services: Services): Route {
  return operatorRoute({
    method: 'POST',
    path: '/api/operator/webhooks/{id}/deliveries/{event}/replay',
    operationId: 'replayDelivery',
    summary: 'Send one event to a webhook again',
    description: 'Sent at once, with the same webhook-id and all attempts.',
    params: deliveryParams,
    right: 'change',
    body: onlyReason,
    bodyExample: { reason: 'the server lost it' },
    reply: { description: 'The event will be sent', schema: done, example: { ok: true } },
    refusals: ['NOT_FOUND'],
    find: (call) => findWebhook(call, services),
    handle: async (call, _query, found) => {
      const replayed = await replayOne(found, call.params[1] ?? '', actBy(call), services.webhooks.endpoints);
      return replayed instanceof Refusal ? replayed : { ok: true };
    },
  });
}

export function replayManyRoute(services: Services): Route {
  return operatorRoute({
    method: 'POST',
    path: '/api/operator/webhooks/{id}/replay',
    operationId: 'replayDeliveries',
    summary: 'Count or send again the events of a period',
    description:
      'With dryRun they are only counted. Otherwise they are sent again with their own webhook-ids, at most 10,000; events that are still waiting are left alone. If more match than expected, by over a tenth, the reply is COUNT_CHANGED and nothing is sent.',
    params: webhookParams,
    right: 'change',
    perOperator: { name: 'webhook replay', perMinute: 30 },
    body: replayRequest,
    bodyExample: { from: '2030-01-01T00:00:00Z', to: '2030-01-02T00:00:00Z', dryRun: true },
    reply: {
      description: 'The number of deliveries',
      schema: replayReply,
      example: { matched: 812, expected: 812 },
    },
    refusals: ['NOT_FOUND', 'COUNT_CHANGED', 'QUERY_TOO_BROAD'],
    find: (call) => findWebhook(call, services),
    handle: async (call, _query, found) => {
      const { from: fromMs, to: toMs, types, dryRun = false, expected } = call.body;
      const { endpoints } = services.webhooks;
      const span = { fromMs, toMs, types };
      if (dryRun) {
        const matched = await countReplay(found, span, endpoints);
        return { matched, expected: matched };
      }
      if (expected === undefined) return wrongField('expected', 'is missing: count first, with dryRun');
      const replayed = await replayMany(found, span, expected, actBy(call), endpoints);
      if (replayed instanceof Refusal) return replayed;
      return { replayed };
    },
  });
}

export function sessionDeliveriesRoute(services: Services): Route {
  return operatorRoute({
    method: 'GET',
    path: '/api/operator/sessions/{id}/webhooks',
    operationId: 'listSessionDeliveries',
    summary: 'List the webhook deliveries about a session, newest first',
    description: `At most ${MAX_OF_SESSION}, from the webhooks that you may see. ${NAMED}`,
    params: sessionParams,
    reply: {
      description: 'The deliveries',
      schema: sessionDeliveries,
      example: { deliveries: [{ ...exampleDelivery, url: exampleWebhook.url, tenantId: 'acme' }] },
    },
    refusals: ['SESSION_NOT_FOUND', 'AMBIGUOUS'],
    find: (call) => findNamed(call, services),
    handle: async (call, _query, record) => {
      const { webhooks } = services.webhooks.endpoints;
      const found = await webhooks.ofSession(refOf(record.id), call.operator.tenants, MAX_OF_SESSION);
      const deliveries = found.map(({ url, tenantId, ...delivery }) => ({
        ...toOperatorDelivery(delivery),
        url: urlSeenBy(call.operator, url),
        tenantId,
      }));
      return { deliveries };
    },
  });
}

function toOperatorDelivery(delivery: WebhookDelivery): OperatorDelivery {
  const { eventId, endpointId, type, session, atMs, state, attempts, nextAtMs, doneAtMs, lastAtMs } = delivery;
  const { lastStatus, lastCode, ms } = delivery;
  return {
    event: eventId,
    webhook: endpointId,
    type,
    session,
    at: iso(atMs),
    state,
    attempts,
    nextAt: isoOrNull(nextAtMs),
    doneAt: isoOrNull(doneAtMs),
    lastAt: isoOrNull(lastAtMs),
    lastStatus,
    lastCode,
    ms,
  };
}
