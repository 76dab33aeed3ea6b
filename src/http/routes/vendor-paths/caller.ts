import { z } from 'zod';
import { clip } from '../../../kernel/text.ts';
import { Refusal, wrongField } from '../../../protocol/refusal.ts';
import { text } from '../../../protocol/values.ts';
import type { Agent, Tenant, WidgetKey } from '../../../stores/tenants/contract.ts';
import { invalidWidgetKey } from '../../../tenants/directory.ts';
import type { Call } from '../../route.ts';
import type { Services } from '../../services.ts';

/** The headers by which a service token says whom it asks for. */
export const whomHeaders = z.object({
  'X-Switchboard-Tenant': text(128)
    .optional()
    .meta({
      description: 'The tenant; needed with a service token where there are several',
      examples: ['acme'],
    }),
  'X-Switchboard-Agent': text(128)
    .optional()
    .meta({
      description: 'The agent of the tenant; needed with a service token where it has several',
      examples: ['support'],
    }),
  'X-Switchboard-Key': text(128)
    .optional()
    .meta({
      description:
        'With a service token: the id of the widget key whose limits hold, and from whose origin the call is opened; by default the first that may use the agent',
      examples: ['site'],
    }),
});

/** Whom a client of a vendor asks for. */
export interface VendorCaller {
  readonly tenant: Tenant;
  readonly agent: Agent | undefined;
}

type Directory = Pick<Services, 'tenants'>;

/** The tenant that a service token asks for (docs/contract.md, section 5.17). */
export function findTenant({ request: { headers } }: Call, { tenants }: Directory): Tenant | Refusal {
  return pick('tenant', headers['x-switchboard-tenant'], tenants.all()) ?? wrongField('tenant', 'there is none yet');
}

/** The same with the agent; undefined where the tenant has none. */
export function findAgent(call: Call, services: Directory): VendorCaller | Refusal {
  const tenant = findTenant(call, services);
  if (tenant instanceof Refusal) return tenant;
  const agent = pick('agent', call.request.headers['x-switchboard-agent'], tenant.agents);
  return agent instanceof Refusal ? agent : { tenant, agent };
}

/** The one that is named, or the only one that there is. */
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

/** The key whose limits hold for what a service token opens. */
export function findKey({ tenant, agent }: VendorCaller, { request: { headers } }: Call): WidgetKey | Refusal {
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

/** What a bearer token is that is no service token: a widget key, as pages have it. */
export function bearerOf({ request: { headers } }: Call): string | undefined {
  return /^Bearer +(\S+)$/i.exec(headers['authorization'] ?? '')?.[1];
}
