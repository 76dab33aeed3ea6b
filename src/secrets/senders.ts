import { secretNamesOf, serverToolsOf } from '../protocol/server-tool.ts';
import type { TenantSecret } from '../stores/tenant-secrets/contract.ts';
import type { Tenant } from '../stores/tenants/contract.ts';

/** A secret that tools send and nobody has set: they fail until somebody does. */
export interface MissingSecret {
  readonly tenantId: string;
  readonly name: string;
  /** Whose tools send it. */
  readonly agents: readonly string[];
}

/** The agents of a tenant by the names of the secrets that their tools send. */
export function sendersOf({ agents }: Tenant): ReadonlyMap<string, readonly string[]> {
  const senders = new Map<string, string[]>();
  for (const { id, tools = [] } of agents)
    for (const name of new Set([...serverToolsOf(tools).values()].flatMap(secretNamesOf)))
      senders.set(name, [...(senders.get(name) ?? []), id]);
  return senders;
}

/** The secrets that the tools of these tenants send and that are not among those that are set. */
export function findMissingSecrets(
  tenants: readonly Tenant[],
  secrets: readonly Pick<TenantSecret, 'tenantId' | 'name'>[],
): MissingSecret[] {
  const isSet = new Set(secrets.map(({ tenantId, name }) => `${tenantId}/${name}`));
  return tenants.flatMap((tenant) =>
    [...sendersOf(tenant)].flatMap(([name, agents]) =>
      isSet.has(`${tenant.id}/${name}`) ? [] : [{ tenantId: tenant.id, name, agents }],
    ),
  );
}
