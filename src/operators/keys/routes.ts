import { z } from 'zod';
import { seesTenant, tenantsOf, within } from '../roles.ts';
import { isoOrNull } from '../../kernel/time.ts';
import { keyActivity, type KeyActivity, noActivity } from './activity.ts';
import {
  issueKeyReply,
  issueKeyRequest,
  type OperatorKey,
  operatorKeys,
  pauseKeyReply,
  pauseKeyRequest,
  revokeKeyReply,
  revokeKeyRequest,
} from '../../protocol/operator/key.ts';
import { Refusal } from '../../protocol/refusal.ts';
import type { Tenant, WidgetKey } from '../../stores/tenants/contract.ts';
import { findKey, issueKey, pauseKey, resumeKey, revokeKey } from '../../tenants/keys.ts';
import { warningsOf } from '../../tenants/key-rules.ts';
import type { Call, Route } from '../../http/route.ts';
import { actBy, noTenant, operatorRoute } from '../operator-route.ts';
import type { Services } from '../../http/services.ts';
import { string, ofTenant } from '../../protocol/fields.ts';

const exampleKey: OperatorKey = {
  tenantId: 'acme',
  id: 'site',
  key: 'w_acme_site_4f1c0e8b7d2a49c3b6e5f0a1d2c3b4e5',
  origin: 'https://www.acme.example',
  label: 'Production site',
  agents: ['support'],
  allowOverrides: false,
  call: null,
  dataChannel: 'none',
  limits: { concurrentSessions: 2 },
  totals: { dollarsDaily: 100 },
  warnings: [],
  revokedAt: null,
  pausedAt: null,
  live: 212,
  today: { tokens: 120_400, dollars: 3.1 },
  refusedHour: { RATE_LIMIT_EXCEEDED: 3 },
  day: { started: 1911, refused: 69, challenged: 40, solved: 31, blocked: 42 },
  weekAgo: { started: 1840, refused: 12, challenged: 3, solved: 3, blocked: 3 },
};

export function keysRoute(services: Services): Route {
  const { tenants: directory, core } = services;
  return operatorRoute({
    method: 'GET',
    path: '/api/operator/keys',
    operationId: 'listKeys',
    summary: 'List tenants and their widget keys, including revoked ones',
    query: ofTenant,
    reply: {
      description: 'The keys',
      schema: operatorKeys,
      example: {
        tenants: [
          { id: 'acme', name: 'Acme', agents: ['support'], totals: { dollarsDaily: 300 }, maxKeys: 20, admins: 1 },
        ],
        keys: [exampleKey],
      },
    },
    handle: async (call, { tenantId }) => {
      const operator = within(call.operator, tenantId);
      const shown = tenantsOf(operator);
      const [counts, activityOf] = await Promise.all([
        core.stores.history.countOpenByKey(shown),
        keyActivity(shown, call.request.atMs, services),
        directory.reload(),
      ]);
      const live = new Map(counts.map(({ tenantId: of, keyId, sessions }) => [`${of}/${keyId}`, sessions]));
      const tenants = directory.all().filter(({ id }) => seesTenant(operator, id));
      return {
        tenants: tenants.map(({ id, name, agents, admins, totals, maxKeys }) => ({
          id,
          name,
          agents: agents.map((agent) => agent.id),
          totals: totals ?? null,
          maxKeys: maxKeys ?? null,
          admins: admins?.length ?? null,
        })),
        keys: tenants.flatMap((tenant) =>
          tenant.keys.map((key) =>
            toOperatorKey(key, tenant, activityOf(key.tenantId, key.id), live.get(`${key.tenantId}/${key.id}`)),
          ),
        ),
      };
    },
  });
}

export function issueKeyRoute(services: Services): Route {
  return operatorRoute({
    method: 'POST',
    path: '/api/operator/keys',
    operationId: 'issueKey',
    summary: 'Issue a widget key',
    description:
      'Every node accepts it at once. It need not be in TENANTS_FILE, and a merge of that file leaves it unchanged.',
    right: 'change',
    body: issueKeyRequest,
    bodyExample: {
      tenantId: 'acme',
      id: 'shop',
      origin: 'https://shop.acme.example',
      agents: ['support'],
    },
    reply: { status: 201, description: 'The key', schema: issueKeyReply, example: { key: exampleKey } },
    refusals: ['NOT_FOUND', 'CONFLICT'],
    handle: async (call) => {
      const { tenantId, id, ...rest } = call.body;
      if (!seesTenant(call.operator, tenantId)) return noTenant(tenantId);
      const key = await issueKey({ ...rest, tenantId, site: id, id }, actBy(call), services.operators.keys);
      if (key instanceof Refusal) return key;
      await services.tenants.catchUp();
      return { key: toOperatorKey(key, services.tenants.tenant(tenantId)) };
    },
  });
}

const keyParams = z.object({ id: string('The id of the key in its tenant', 'site') });

export function revokeKeyRoute(services: Services): Route {
  return operatorRoute({
    method: 'POST',
    path: '/api/operator/keys/{id}/revoke',
    operationId: 'revokeKey',
    summary: 'Revoke a widget key permanently, or count the sessions that would end',
    description:
      'Permanent: a revoked key never works again, whatever TENANTS_FILE says, and its live sessions end. Repeating it changes nothing.',
    params: keyParams,
    right: 'change',
    body: revokeKeyRequest,
    bodyExample: { tenantId: 'acme', reason: 'it leaked' },
    reply: {
      description: 'The key was revoked, or its sessions were counted',
      schema: revokeKeyReply,
      example: { ok: true, liveSessions: 212, revokedAt: '2030-01-01T12:00:00.000Z' },
    },
    refusals: ['NOT_FOUND'],
    find: (call) => findSeen(call, services),
    handle: async (call, _query, key) => {
      const { dryRun = false } = call.body;
      const { tenantId, id: keyId } = key;
      const { matched: liveSessions } = await services.core.stores.history.countOpen({ tenantId, keyId });
      const revoked = dryRun ? key : await revokeKey(key, actBy(call), services.operators.keys);
      return { ok: true, liveSessions, revokedAt: isoOrNull(revoked.revokedAtMs) };
    },
  });
}

/** The key that the path and the body name, of a tenant that the operator may see. */
async function findSeen(
  { operator, params: [id = ''], body: { tenantId } }: Call<{ readonly tenantId: string }>,
  { operators: { keys } }: Services,
): Promise<WidgetKey | Refusal> {
  const key = seesTenant(operator, tenantId) ? await findKey(tenantId, id, keys) : undefined;
  return key?.id === id ? key : noKey(tenantId, id);
}

function toOperatorKey(
  of: WidgetKey,
  tenant: Pick<Tenant, 'totals'> = {},
  activity: KeyActivity = noActivity,
  live = 0,
): OperatorKey {
  const { pausedAtMs, revokedAtMs, limits, totals, agents, ...key } = of;
  return {
    ...key,
    agents: agents === null ? null : [...agents],
    limits: { ...limits },
    totals: { ...totals },
    warnings: warningsOf(of, tenant),
    revokedAt: isoOrNull(revokedAtMs),
    pausedAt: isoOrNull(pausedAtMs),
    live,
    ...activity,
  };
}

/** The refusal where a tenant has no key of that id. */
export function noKey(tenantId: string, id: string): Refusal {
  return new Refusal(
    'NOT_FOUND',
    `The tenant "${tenantId}" has no widget key "${id}"; GET /api/operator/keys names them.`,
  );
}

export function pauseKeyRoute(services: Services, to: 'pause' | 'resume'): Route {
  const isPause = to === 'pause';
  const change = isPause ? pauseKey : resumeKey;
  const pausedAt = isPause ? '2030-01-01T12:00:00.000Z' : null;
  return operatorRoute({
    method: 'POST',
    path: `/api/operator/keys/{id}/${to}`,
    operationId: `${to}Key`,
    summary: isPause ? 'Pause a widget key, so that it opens no new sessions' : 'Resume a paused widget key',
    description: isPause
      ? 'Creates are refused with KEY_PAUSED on every node until the key is resumed; its open sessions continue to their limits. Repeating it changes nothing, and neither does pausing a revoked key.'
      : 'Repeating it changes nothing. A revoked key stays revoked.',
    params: keyParams,
    right: 'change',
    body: pauseKeyRequest,
    bodyExample: { tenantId: 'acme', reason: 'the website is being rebuilt' },
    reply: {
      description: isPause ? 'The key is paused' : 'The key is not paused',
      schema: pauseKeyReply,
      example: { ok: true, pausedAt, revokedAt: null },
    },
    refusals: ['NOT_FOUND'],
    find: (call) => findSeen(call, services),
    handle: async (call, _query, found) => {
      const key = await change(found, actBy(call), services.operators.keys);
      await services.tenants.catchUp();
      return { ok: true, pausedAt: isoOrNull(key.pausedAtMs), revokedAt: isoOrNull(key.revokedAtMs) };
    },
  });
}
