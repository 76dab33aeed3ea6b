import { z } from 'zod';
import { clip } from '../../../kernel/text.ts';
import type { CreateRequest } from '../../../protocol/create.ts';
import { Refusal, wrongField } from '../../../protocol/refusal.ts';
import { text } from '../../../protocol/fields.ts';
import type { Agent, Tenant, WidgetKey } from '../../../stores/tenants/contract.ts';
import { invalidWidgetKey } from '../../../tenants/directory.ts';
import type { Call } from '../../route.ts';
import type { Services } from '../../services.ts';
import { addressScope } from '../../steps/rate-limit.ts';
import type { CreateInput } from '../../../sessions/create/step.ts';

/** The headers by which a back end with a service token names the tenant, agent and key that it asks for. */
export const whomHeaders = z.object({
  'X-Switchboard-Tenant': text(
    128,
    'The tenant; required with a service token if there are several',
    'acme',
  ).optional(),
  'X-Switchboard-Agent': text(
    128,
    'The tenant’s agent; required with a service token if there are several',
    'support',
  ).optional(),
  'X-Switchboard-Key': text(
    128,
    'With a service token: the id of the widget key whose limits apply and from whose origin the call is opened; by default the first key that may use the agent',
    'site',
  ).optional(),
});

/** The tenant and agent that a vendor's client asks for. */
interface VendorCaller {
  readonly tenant: Tenant;
  readonly agent: Agent | undefined;
}

type Directory = Pick<Services, 'tenants'>;

/** The tenant that a service token asks for (docs/contract.md, section 5.17). */
export function findTenant({ request: { headers } }: Call, { tenants }: Directory): Tenant | Refusal {
  return pick('tenant', headers['x-switchboard-tenant'], tenants.all()) ?? wrongField('tenant', 'there is none yet');
}

/** The tenant together with the agent; undefined where the tenant has no agent. */
function findAgent(call: Call, services: Directory, agentId?: string): VendorCaller | Refusal {
  const tenant = findTenant(call, services);
  if (tenant instanceof Refusal) return tenant;
  const agent = pick('agent', agentId ?? call.request.headers['x-switchboard-agent'], tenant.agents);
  return agent instanceof Refusal ? agent : { tenant, agent };
}

/** The one that is named, or the only one there is. */
function pick<T extends { readonly id: string }>(
  what: 'tenant' | 'agent',
  named: string | undefined,
  all: readonly T[],
): T | Refusal | undefined {
  const header = `X-Switchboard-${what === 'tenant' ? 'Tenant' : 'Agent'}`;
  const ids = clip(all.map(({ id }) => id).join(', '), 500);
  if (named === undefined && all.length > 1) return wrongField(what, `is needed: send ${header}, one of ${ids}`);
  if (named === undefined || all.length === 0) return all[0];
  return (
    all.find(({ id }) => id === named) ?? wrongField(what, `${header} names none that there is: send one of ${ids}`)
  );
}

/** The key whose limits apply to what a service token opens. */
function findKey({ tenant, agent }: VendorCaller, { request: { headers } }: Call): WidgetKey | Refusal {
  const named = headers['x-switchboard-key'];
  const live = tenant.keys.filter(({ revokedAtMs }) => revokedAtMs === null);
  if (named !== undefined)
    return live.find(({ id }) => id === named) ?? invalidWidgetKey({ fact: 'the tenant has no such key' });
  const mayUse = ({ agents }: WidgetKey): boolean =>
    agents === null || (agent !== undefined && agents.includes(agent.id));
  const found = live.find((key) => key.pausedAtMs === null && mayUse(key)) ?? live.find(mayUse);
  return (
    found ??
    wrongField(
      'key',
      `the tenant ${tenant.id} has no widget key that may use this agent: issue one in the console or by \`keys issue\``,
    )
  );
}

/** The key and agent that a session is created with, and the origin of its page. */
export interface Whom {
  readonly named: Pick<CreateRequest, 'widgetKey' | 'tenantId' | 'agentId'>;
  readonly origin: string | undefined;
}

/** Finds key and agent for a service token or a widget key. @param agentId overrides the one that a header names */
export function findWhom(call: Call, services: Directory, agentId?: string): Whom | Refusal {
  return call.isService ? whomOfService(call, services, agentId) : whomOfPage(call, agentId);
}

/** A back end vouches for the page that opens the call: the session gets the key's origin. */
function whomOfService(call: Call, services: Directory, agentId: string | undefined): Whom | Refusal {
  const found = findAgent(call, services, agentId);
  if (found instanceof Refusal) return found;
  const key = findKey(found, call);
  if (key instanceof Refusal) return key;
  const { tenant, agent } = found;
  return { named: { widgetKey: key.key, tenantId: tenant.id, agentId: agent?.id }, origin: key.origin };
}

function whomOfPage(call: Call, agent: string | undefined): Whom | Refusal {
  const widgetKey = bearerOf(call);
  if (widgetKey === undefined)
    return new Refusal('AUTH_REQUIRED', 'Send a service token or a widget key: Authorization: Bearer …');
  const { headers } = call.request;
  const agentId = agent ?? headers['x-switchboard-agent'];
  return { named: { widgetKey, tenantId: headers['x-switchboard-tenant'], agentId }, origin: call.origin };
}

/** The create request that a vendor path stands for. */
export function createFor(
  { named, origin }: Whom,
  { ip, request, limit: window, isService }: Call,
  wish: CreateRequest,
  visitor?: CreateInput['visitor'],
): CreateInput {
  return {
    body: { ...wish, ...named },
    login: undefined,
    isService,
    vouches: isService,
    visitor,
    origin,
    ip,
    addressScope: addressScope(ip),
    window,
    request,
  };
}

/** The bearer token, where it is not a service token: a widget key, as pages have it. */
export function bearerOf({ request: { headers } }: Call): string | undefined {
  return /^Bearer +(\S+)$/i.exec(headers['authorization'] ?? '')?.[1];
}
