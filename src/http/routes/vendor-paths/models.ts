import { modelsReply, type ModelsReply } from '../../../protocol/vendor-paths.ts';
import { Refusal } from '../../../protocol/refusal.ts';
import type { Tenant } from '../../../stores/tenants/contract.ts';
import { DEFAULT_MODEL } from '../../../tenants/agents.ts';
import { defineRoute, type Route } from '../../route.ts';
import type { Services } from '../../services.ts';
import { findTenant, whomHeaders } from './caller.ts';

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
    replies: { 200: { description: 'The models', schema: modelsReply, example: exampleReply } },
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

const exampleReply: ModelsReply = {
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
