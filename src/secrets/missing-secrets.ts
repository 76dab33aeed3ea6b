import { secretNamesOf, secretsIn, serverToolsOf } from '../protocol/server-tool.ts';
import type { TenantSecret } from '../stores/tenant-secrets/contract.ts';
import type { Tenant } from '../stores/tenants/contract.ts';

/** A secret that is used but not set: what uses it fails until it is. */
interface MissingSecret {
  readonly tenantId: string;
  readonly name: string;
  /** Ids of the agents or keys that need it. */
  readonly users: readonly string[];
}

type UsersBySecret = ReadonlyMap<string, readonly string[]>;

/** The agents of a tenant, by the names of the secrets that their tools send. */
export function sendersOf({ agents }: Tenant): UsersBySecret {
  const senders = new Map<string, string[]>();
  for (const { id, tools = [] } of agents)
    for (const name of new Set([...serverToolsOf(tools).values()].flatMap(secretNamesOf)))
      senders.set(name, [...(senders.get(name) ?? []), id]);
  return senders;
}

/** The tenant's widget keys in use, by the names of the secrets that verify their visitors' solutions. */
export function verifiersOf({ keys }: Tenant): UsersBySecret {
  const verifiers = new Map<string, string[]>();
  for (const { id, bots, revokedAtMs } of keys)
    for (const name of revokedAtMs === null ? secretsIn(bots?.secret ?? '') : [])
      verifiers.set(name, [...(verifiers.get(name) ?? []), id]);
  return verifiers;
}

/** The secrets that these tenants use and that are not set. */
export function findMissingSecrets(
  tenants: readonly Tenant[],
  secrets: readonly Pick<TenantSecret, 'tenantId' | 'name'>[],
  usersOf: (tenant: Tenant) => UsersBySecret,
): MissingSecret[] {
  const isSet = new Set(secrets.map(({ tenantId, name }) => `${tenantId}/${name}`));
  return tenants.flatMap((tenant) =>
    [...usersOf(tenant)].flatMap(([name, users]) =>
      isSet.has(`${tenant.id}/${name}`) ? [] : [{ tenantId: tenant.id, name, users }],
    ),
  );
}
