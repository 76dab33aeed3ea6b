import { z } from 'zod';
import type { Call, Route } from '../../http/route.ts';
import type { Services } from '../../http/services.ts';
import {
  changeWebhookRequest,
  deleteWebhookFilters,
  newWebhookReply,
  newWebhookRequest,
  type OperatorWebhook,
  operatorWebhooks,
  webhookReply,
  webhookSecretReply,
  webhookTestReply,
} from '../../protocol/operator/webhook.ts';
import { Refusal } from '../../protocol/refusal.ts';
import { WEBHOOK_TYPES } from '../../protocol/webhook.ts';
import type { WebhookEndpoint } from '../../stores/webhooks/contract.ts';
import {
  addWebhook,
  changeWebhook,
  deleteWebhook,
  disableWebhook,
  enableWebhook,
  gone,
  rotateWebhook,
  tryWebhook,
} from '../../webhooks/endpoints.ts';
import { seesTenant, tenantsOf, within, actorSeenBy, type Operator, urlSeenBy } from '../roles.ts';
import { actBy, findTenant, operatorRoute, scopeOf } from '../operator-route.ts';
import { done, string, ofTenant, onlyReason } from '../../protocol/fields.ts';
import { iso, isoOrNull } from '../../kernel/time.ts';

export const exampleWebhook: OperatorWebhook = {
  id: 'wh_Zq3v0m8XcQf1rT6uYp2sLw',
  tenantId: 'acme',
  url: 'https://hooks.acme.example/switchboard',
  types: ['session.settled'],
  state: 'healthy',
  failures: 0,
  failingSince: null,
  probeAt: null,
  disabledFor: null,
  waiting: 0,
  createdAt: '2030-01-01T12:00:00.000Z',
  createdBy: 'ada@example.com',
  version: 1,
};

const TYPES = Object.entries(WEBHOOK_TYPES).map(([type, meaning]) => ({ type, meaning }));

const exampleSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=';

export const webhookParams = z.object({ id: string('The id of the webhook', exampleWebhook.id) });

/** The endpoint that the request's path names; an endpoint of a tenant that the operator does not see is treated as missing. */
export async function findWebhook(
  { operator, params: [id = ''] }: Pick<Call, 'operator' | 'params'>,
  { webhooks }: Pick<Services, 'webhooks'>,
): Promise<WebhookEndpoint | Refusal> {
  const found = await webhooks.endpoints.webhooks.find(id);
  return found !== undefined && seesTenant(operator, found.tenantId) ? found : gone();
}

export function webhooksRoute(services: Services): Route {
  return operatorRoute({
    method: 'GET',
    path: '/api/operator/webhooks',
    operationId: 'listWebhooks',
    summary: 'List webhooks of tenants and of the installation, their state, and how many deliveries wait',
    query: ofTenant,
    reply: {
      description: 'The webhooks',
      schema: operatorWebhooks,
      example: { tenants: [{ id: 'acme', name: 'Acme' }], webhooks: [exampleWebhook], types: TYPES },
    },
    handle: async (call, { tenantId }) => {
      const { webhooks, tenants: directory } = services;
      const store = webhooks.endpoints.webhooks;
      const operator = within(call.operator, tenantId);
      const found = await store.list(tenantsOf(operator));
      const waiting = await store.countWaiting(found.map(({ id }) => id));
      const tenants = directory.all().filter(({ id }) => seesTenant(operator, id));
      return {
        tenants: tenants.map(({ id, name }) => ({ id, name })),
        types: TYPES,
        webhooks: found.map((one) => toOperatorWebhook(one, operator, waiting.get(one.id))),
      };
    },
  });
}

export function webhookRoute(services: Services): Route {
  return operatorRoute({
    method: 'GET',
    path: '/api/operator/webhooks/{id}',
    operationId: 'getWebhook',
    summary: 'Get one webhook, and how many deliveries wait for it',
    params: webhookParams,
    reply: { description: 'The webhook', schema: webhookReply, example: { webhook: exampleWebhook } },
    refusals: ['NOT_FOUND'],
    find: (call) => findWebhook(call, services),
    handle: (call, _query, found) => shown(found, call, services),
  });
}

export function addWebhookRoute(services: Services): Route {
  return operatorRoute({
    method: 'POST',
    path: '/api/operator/webhooks',
    operationId: 'addWebhook',
    summary: 'Add a webhook, and show its secret only this once',
    description: 'Each tenant, and the installation, can have ten. The webhook receives events from now on.',
    right: 'change',
    body: newWebhookRequest,
    bodyExample: { tenantId: 'acme', url: 'https://hooks.acme.example/switchboard', types: ['session.settled'] },
    reply: {
      status: 201,
      description: 'The webhook was added',
      schema: newWebhookReply,
      example: { webhook: exampleWebhook, secret: exampleSecret },
    },
    refusals: ['NOT_FOUND', 'CONFLICT'],
    find: (call) => findScope(call, services),
    handle: async (call, _query, tenantId) => {
      const { url, types } = call.body;
      const made = await addWebhook({ tenantId, url, types }, actBy(call), services.webhooks.endpoints);
      if (made instanceof Refusal) return made;
      return { webhook: toOperatorWebhook(made.endpoint, call.operator), secret: made.secret };
    },
  });
}

export function changeWebhookRoute(services: Services): Route {
  return operatorRoute({
    method: 'PATCH',
    path: '/api/operator/webhooks/{id}',
    operationId: 'changeWebhook',
    summary: 'Change the address of a webhook, or the events that it receives from now on',
    params: webhookParams,
    right: 'change',
    body: changeWebhookRequest,
    bodyExample: { types: ['session.settled', 'call.unconfirmed'] },
    reply: { description: 'The webhook was changed', schema: webhookReply, example: { webhook: exampleWebhook } },
    refusals: ['NOT_FOUND'],
    find: (call) => findWebhook(call, services),
    handle: async (call, _query, found) => {
      const { url, types } = call.body;
      const changed = await changeWebhook(found, { url, types }, actBy(call), services.webhooks.endpoints);
      return changed instanceof Refusal ? changed : shown(changed, call, services);
    },
  });
}

export function deleteWebhookRoute(services: Services): Route {
  return operatorRoute({
    method: 'DELETE',
    path: '/api/operator/webhooks/{id}',
    operationId: 'deleteWebhook',
    summary: 'Delete a webhook, its secrets and its waiting deliveries',
    description: 'A webhook that TENANTS_FILE names cannot be deleted here; it can be disabled.',
    params: webhookParams,
    right: 'change',
    query: deleteWebhookFilters,
    reply: { description: 'The webhook was deleted', schema: done, example: { ok: true } },
    refusals: ['NOT_FOUND', 'CONFLICT'],
    find: (call) => findWebhook(call, services),
    handle: async (call, { reason = null }, found) => {
      const deleted = await deleteWebhook(found, { ...actBy(call), reason }, services.webhooks.endpoints);
      return deleted instanceof Refusal ? deleted : { ok: true };
    },
  });
}

export function rotateWebhookRoute(services: Services): Route {
  return operatorRoute({
    method: 'POST',
    path: '/api/operator/webhooks/{id}/rotate',
    operationId: 'rotateWebhookSecret',
    summary: 'Create a new secret for a webhook, and show it only this once',
    description: 'The previous secret also signs for another 24 hours.',
    params: webhookParams,
    right: 'change',
    body: onlyReason,
    bodyExample: { reason: 'once a year' },
    reply: { status: 201, description: 'The secret', schema: webhookSecretReply, example: { secret: exampleSecret } },
    refusals: ['NOT_FOUND', 'CONFLICT'],
    find: (call) => findWebhook(call, services),
    handle: async (call, _query, found) => {
      const secret = await rotateWebhook(found, actBy(call), services.webhooks.endpoints);
      return secret instanceof Refusal ? secret : { secret };
    },
  });
}

export function tryWebhookRoute(services: Services): Route {
  return operatorRoute({
    method: 'POST',
    path: '/api/operator/webhooks/{id}/test',
    operationId: 'tryWebhook',
    summary: 'Send a webhook.test event to a webhook',
    description: 'Its delivery shows the result. A disabled webhook gets it once it is enabled.',
    params: webhookParams,
    right: 'change',
    perOperator: { name: 'webhook test', perMinute: 30 },
    body: onlyReason,
    bodyExample: {},
    reply: {
      status: 201,
      description: 'The event will be sent',
      schema: webhookTestReply,
      example: { event: 'evt_Zq3v0m8XcQf1rT6uYp2sLw' },
    },
    refusals: ['NOT_FOUND'],
    find: (call) => findWebhook(call, services),
    handle: async (call, _query, found) => {
      const event = await tryWebhook(found, actBy(call), services.webhooks.endpoints);
      return event instanceof Refusal ? event : { event };
    },
  });
}

export function turnWebhookRoute(services: Services, to: 'enable' | 'disable'): Route {
  const isOn = to === 'enable';
  const turn = isOn ? enableWebhook : disableWebhook;
  return operatorRoute({
    method: 'POST',
    path: `/api/operator/webhooks/{id}/${to}`,
    operationId: `${to}Webhook`,
    summary: isOn ? 'Enable a webhook' : 'Disable a webhook, so that nothing is sent to it',
    description: isOn
      ? 'One delivery is tried at once, and everything waiting follows once it succeeds. If the webhook is failing, it is probed at once.'
      : 'Events that happen meanwhile wait for it.',
    params: webhookParams,
    right: 'change',
    body: onlyReason,
    bodyExample: {},
    reply: { description: 'The webhook as it is now', schema: webhookReply, example: { webhook: exampleWebhook } },
    refusals: ['NOT_FOUND'],
    find: (call) => findWebhook(call, services),
    handle: async (call, _query, found) => {
      const turned = await turn(found, actBy(call), services.webhooks.endpoints);
      return turned instanceof Refusal ? turned : shown(turned, call, services);
    },
  });
}

async function shown(endpoint: WebhookEndpoint, { operator }: Pick<Call, 'operator'>, { webhooks }: Services) {
  const waiting = await webhooks.endpoints.webhooks.countWaiting([endpoint.id]);
  return { webhook: toOperatorWebhook(endpoint, operator, waiting.get(endpoint.id)) };
}

async function findScope(
  { operator, body: { tenantId } }: Call<{ readonly tenantId?: string | undefined }>,
  services: Services,
): Promise<string | null | Refusal> {
  const scope = scopeOf(
    operator,
    tenantId,
    'Name a tenantId: you may add webhooks to your own tenants, and not to the installation.',
  );
  if (scope === null || scope instanceof Refusal) return scope;
  const tenant = await findTenant(operator, scope, services);
  return tenant instanceof Refusal ? tenant : tenant.id;
}

/** An endpoint as an operator sees it. @param waiting number of waiting deliveries */
function toOperatorWebhook(
  {
    failingSinceMs,
    probeAtMs,
    createdAtMs,
    createdBy,
    probes: _probes,
    healthySinceMs: _since,
    types,
    url,
    ...endpoint
  }: WebhookEndpoint,
  operator: Operator,
  waiting = 0,
): OperatorWebhook {
  return {
    ...endpoint,
    url: urlSeenBy(operator, url),
    types: [...types],
    failingSince: isoOrNull(failingSinceMs),
    probeAt: isoOrNull(probeAtMs),
    waiting,
    createdAt: iso(createdAtMs),
    createdBy: actorSeenBy(operator, createdBy),
  };
}
