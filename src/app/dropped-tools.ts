import type { Tenant } from '../stores/tenants/contract.ts';
import type { UpstreamProvider } from '../upstream/contract.ts';

/** Agents whose tools the provider does not take: one line where there are any. A create that names tools itself is refused. */
export function findDroppedTools(
  tenants: readonly Tenant[],
  { name, capabilities }: Pick<UpstreamProvider, 'name' | 'capabilities'>,
): string[] {
  if (capabilities.tools) return [];
  const agents = tenants.flatMap(({ id, agents: its }) =>
    its.filter(({ tools = [] }) => tools.length > 0).map((agent) => `${id}/${agent.id}`),
  );
  if (agents.length === 0) return [];
  return [`calls of the provider ${name} have no tools: those of the agents ${agents.join(', ')} are left out`];
}
