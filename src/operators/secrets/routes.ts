import { z } from 'zod';
import type { Route } from '../../http/route.ts';
import type { Services } from '../../http/services.ts';
import { iso } from '../../kernel/time.ts';
import {
  deleteSecretRequest,
  type OperatorSecret,
  operatorSecrets,
  setSecretReply,
  setSecretRequest,
  signingSecretReply,
  signingSecretRequest,
} from '../../protocol/operator/secret.ts';
import { Refusal } from '../../protocol/refusal.ts';
import {
  deleteSecret,
  findMissingSecrets,
  listSecrets,
  rotateSigningSecret,
  sendersOf,
  setSecret,
} from '../../tenant-secrets/secrets.ts';
import type { TenantSecret } from '../../stores/tenant-secrets/contract.ts';
import { actorSeenBy, type Operator, seesTenant, tenantsOf, within } from '../roles.ts';
import { actBy, findTenant, operatorRoute } from '../operator-route.ts';
import { done, string, ofTenant } from '../../protocol/fields.ts';

const exampleSecret: OperatorSecret = {
  tenantId: 'acme',
  name: 'crm',
  version: 2,
  createdAt: '2030-01-01T12:00:00.000Z',
  createdBy: 'ada@example.com',
  agents: ['support'],
};

export function secretsRoute(services: Services): Route {
  const { tenants: directory, operators } = services;
  return operatorRoute({
    method: 'GET',
    path: '/api/operator/secrets',
    operationId: 'listSecrets',
    summary: 'List the secrets of tenants, who set them and which agents send them, without their values',
    query: ofTenant,
    reply: {
      description: 'The secrets',
      schema: operatorSecrets,
      example: {
        tenants: [{ id: 'acme', name: 'Acme' }],
        secrets: [exampleSecret],
        missing: [{ tenantId: 'acme', name: 'shop', agents: ['sales'] }],
      },
    },
    handle: async (call, { tenantId }) => {
      const operator = within(call.operator, tenantId);
      const [secrets] = await Promise.all([listSecrets(operators.secrets, tenantsOf(operator)), directory.reload()]);
      const tenants = directory.all().filter(({ id }) => seesTenant(operator, id));
      const senders = new Map(tenants.map((tenant) => [tenant.id, sendersOf(tenant)]));
      return {
        tenants: tenants.map(({ id, name }) => ({ id, name })),
        secrets: secrets.map((secret) => toOperatorSecret(secret, operator, senders.get(secret.tenantId))),
        missing: findMissingSecrets(tenants, secrets, sendersOf).map(({ users, ...secret }) => ({
          ...secret,
          agents: [...users],
        })),
      };
    },
  });
}

export function setSecretRoute(services: Services): Route {
  return operatorRoute({
    method: 'POST',
    path: '/api/operator/secrets',
    operationId: 'setSecret',
    summary: 'Set a secret of a tenant, or a new version of it',
    description: 'No request returns the value afterwards. Tools send the new version within half a minute.',
    right: 'change',
    body: setSecretRequest,
    bodyExample: { tenantId: 'acme', name: 'crm', value: 'the key of the CRM' },
    reply: {
      status: 201,
      description: 'The secret was saved',
      schema: setSecretReply,
      example: { secret: exampleSecret },
    },
    refusals: ['NOT_FOUND', 'CONFLICT'],
    find: (call) => findTenant(call.operator, call.body.tenantId, services),
    handle: async (call, _query, tenant) => {
      const { name, value } = call.body;
      const kept = await setSecret({ tenantId: tenant.id, name, value }, actBy(call), services.operators.secrets);
      if (kept instanceof Refusal) return kept;
      return { secret: toOperatorSecret(kept, call.operator, sendersOf(tenant)) };
    },
  });
}

const secretParams = z.object({ name: string('The name of the secret in its tenant', 'crm') });

export function deleteSecretRoute(services: Services): Route {
  return operatorRoute({
    method: 'POST',
    path: '/api/operator/secrets/{name}/delete',
    operationId: 'deleteSecret',
    summary: 'Delete all versions of a secret of a tenant',
    description: 'Tools that send it fail within half a minute, until it is set again.',
    params: secretParams,
    right: 'change',
    body: deleteSecretRequest,
    bodyExample: { tenantId: 'acme', reason: 'the CRM is replaced' },
    reply: { description: 'The secret was deleted', schema: done, example: { ok: true } },
    refusals: ['NOT_FOUND'],
    find: (call) => findTenant(call.operator, call.body.tenantId, services),
    handle: async (call, _query, tenant) => {
      const [name = ''] = call.params;
      const deleted = await deleteSecret(tenant.id, name, actBy(call), services.operators.secrets);
      return deleted instanceof Refusal ? deleted : { ok: true };
    },
  });
}

export function signingSecretRoute(services: Services): Route {
  return operatorRoute({
    method: 'POST',
    path: '/api/operator/secrets/signing',
    operationId: 'rotateSigningSecret',
    summary: 'Create a new signing secret for the tools of a tenant, and show it only this once',
    description: 'The previous one also signs until the next is made, so that servers can change at any time.',
    right: 'change',
    body: signingSecretRequest,
    bodyExample: { tenantId: 'acme', reason: 'once a year' },
    reply: {
      status: 201,
      description: 'The secret',
      schema: signingSecretReply,
      example: { secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=' },
    },
    refusals: ['NOT_FOUND', 'CONFLICT'],
    find: (call) => findTenant(call.operator, call.body.tenantId, services),
    handle: async (call, _query, tenant) => {
      const secret = await rotateSigningSecret(tenant.id, actBy(call), services.operators.secrets);
      return secret instanceof Refusal ? secret : { secret };
    },
  });
}

function toOperatorSecret(
  { createdAtMs, createdBy, ...secret }: TenantSecret,
  operator: Operator,
  senders: ReturnType<typeof sendersOf> = new Map(),
): OperatorSecret {
  return {
    ...secret,
    createdAt: iso(createdAtMs),
    createdBy: actorSeenBy(operator, createdBy),
    agents: [...(senders.get(secret.name) ?? [])],
  };
}
