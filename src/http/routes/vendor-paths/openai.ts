import {
  clientSecretsReply,
  clientSecretsRequest,
  wishOf,
  type ClientSecretsReply,
  type ClientSecretsRequest,
  modelsReply,
  type ModelsReply,
} from '../../../protocol/vendor-paths.ts';
import { createIdempotencyHeader } from '../../../protocol/idempotency-header.ts';
import { traceparentHeader } from '../../../protocol/create.ts';
import { Refusal } from '../../../protocol/refusal.ts';
import { invalidFields } from '../../refusals.ts';
import { defineRoute, type Call, type Result, type Route } from '../../route.ts';
import { sample } from '../../samples.ts';
import type { Services } from '../../services.ts';
import { createRefusals } from '../create-session.ts';
import { createFor, findTenant, findWhom, whomHeaders } from './caller.ts';
import type { Tenant } from '../../../stores/tenants/contract.ts';
import { DEFAULT_MODEL } from '../../../tenants/agents.ts';

type SecretServices = Pick<Services, 'tenants' | 'createSession'>;

/** POST /v1/realtime/client_secrets: a create in the shape of OpenAI's (docs/contract.md, section 5.17). */
export function clientSecretsRoute(services: SecretServices): Route {
  return defineRoute<ClientSecretsRequest>({
    method: 'POST',
    path: '/v1/realtime/client_secrets',
    operationId: 'createClientSecret',
    summary: 'Create a session as OpenAI’s clients do',
    description:
      'For software written for OpenAI: set its base URL to this server’s address with /v1, and its API key to a service token, or to the widget key of the page that sends the request.',
    tag: 'Vendor paths',
    access: 'proof',
    cors: 'widgets',
    body: clientSecretsRequest,
    headers: createIdempotencyHeader.extend({ ...whomHeaders.shape, ...traceparentHeader.shape }),
    bodyExample: { session: { type: 'realtime' } },
    replies: {
      200: { description: 'The secret that opens the call', schema: clientSecretsReply, example: exampleReply },
    },
    refusals: [...createRefusals, 'UPSTREAM_ERROR', 'UPSTREAM_TIMEOUT'],
    credentials: ['service', 'widgetKey'],
    handle: (call) => create(call, services),
  });
}

const exampleReply: ClientSecretsReply = {
  value: 'ek_sb_3kX2vQ9mB4tYw7nLcR1sZ0A',
  expires_at: 1_893_499_260,
  session: { type: 'realtime', object: 'realtime.session', id: 'sess_C9CwUVUzUzYIssh3ELY1d' },
  switchboard: {
    sm_session_id: sample.sm_session_id,
    heartbeat: sample.heartbeat,
    limits: sample.limits,
    call: { mode: 'brokered', url: 'https://voice.example.com/api/realtime/calls', dataChannel: 'open' },
    keyId: 'site',
  },
};

async function create(call: Call<ClientSecretsRequest>, { tenants, createSession }: SecretServices): Promise<Result> {
  await tenants.refreshIfLate();
  const asked = wishOf(call.body?.session);
  if ('faults' in asked) return invalidFields(asked.faults);
  const whom = findWhom(call, { tenants });
  if (whom instanceof Refusal) return whom;
  const reply = await createSession(createFor(whom, call, asked.wish));
  if (reply instanceof Refusal) return reply;
  const { id, client_secret, ...switchboard } = reply;
  const keyId = tenants.keyOf(whom.named.widgetKey ?? '')?.key.id ?? '';
  const body: ClientSecretsReply = {
    value: client_secret.value,
    expires_at: client_secret.expires_at,
    session: { type: 'realtime', object: 'realtime.session', id },
    switchboard: { ...switchboard, keyId },
  };
  return { status: 200, body };
}

type ModelServices = Pick<Services, 'core' | 'tenants'>;

/** GET /v1/models: the models of a tenant's agents, in the shape of OpenAI's list (docs/contract.md, section 5.17). */
export function modelsRoute(services: ModelServices): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/models',
    operationId: 'listModels',
    summary: 'List the models of a tenant’s agents, with their prices',
    tag: 'Vendor paths',
    access: 'proof',
    headers: whomHeaders.pick({ 'X-Switchboard-Tenant': true }),
    replies: { 200: { description: 'The models', schema: modelsReply, example: exampleModels } },
    refusals: ['AUTH_REQUIRED', 'INVALID_REQUEST'],
    credentials: ['service'],
    async handle(call) {
      if (!call.isService)
        return new Refusal('AUTH_REQUIRED', 'Send a service token: Authorization: Bearer, one of SERVICE_TOKENS.');
      await services.tenants.refreshIfLate();
      const tenant = findTenant(call, services);
      return tenant instanceof Refusal ? tenant : { status: 200, body: modelsOf(tenant, services.core) };
    },
  });
}

const exampleModels: ModelsReply = {
  object: 'list',
  data: [{ id: 'gpt-realtime-2.1', object: 'model', created: 0, owned_by: 'openai', agents: ['support'] }],
};

function modelsOf(tenant: Tenant, { prices, provider }: ModelServices['core']): ModelsReply {
  const names = new Set([
    ...tenant.agents.map(({ model = DEFAULT_MODEL }) => model),
    ...(tenant.agents.length === 0 ? [DEFAULT_MODEL] : []),
  ]);
  const data = [...names].toSorted().map((id) => {
    const agents = tenant.agents.filter(({ model = DEFAULT_MODEL }) => model === id);
    const price = agents.find((agent) => agent.price !== undefined)?.price ?? prices.find(id);
    return {
      id,
      object: 'model' as const,
      created: 0,
      owned_by: provider.name,
      agents: agents.map((agent) => agent.id),
      ...(price !== undefined && { price }),
    };
  });
  return { object: 'list', data };
}
