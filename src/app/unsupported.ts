import type { Agent, Tenant } from '../stores/tenants/contract.ts';
import { TenantsFileError } from '../tenants/tenants-file.ts';
import { unsupportedOf } from '../upstream/behaviour.ts';
import type { UpstreamProvider } from '../upstream/contract.ts';

type Provider = Pick<UpstreamProvider, 'name' | 'capabilities' | 'transcriber'>;

/** An agent that asks for what its provider cannot do. */
interface Unsupported {
  /** The tenant's id and the agent's. */
  readonly name: string;
  readonly agent: Agent;
  /** Fields of the agent that have no effect with the provider. */
  readonly fields: readonly string[];
}

function find(tenants: readonly Tenant[], provider: Provider): Unsupported[] {
  const agents = tenants.flatMap(({ id, agents: its }) => its.map((agent) => ({ name: `${id}/${agent.id}`, agent })));
  return agents.flatMap(({ name, agent }) => {
    const isWithTools = !provider.capabilities.tools && (agent.tools ?? []).length > 0;
    const fields = [...(isWithTools ? ['tools'] : []), ...unsupportedOf(provider, agent)];
    return fields.length === 0 ? [] : [{ name, agent, fields }];
  });
}

/** Warns of what agents ask for but the provider's calls cannot have, a line each (docs/agents.md). A create that asks for tools is refused. */
export function findUnsupported(tenants: readonly Tenant[], provider: Provider): string[] {
  return find(tenants, provider).map(
    ({ name, fields }) =>
      `the provider ${provider.name} cannot do what the agent ${name} asks for: ${fields.join(', ')}`,
  );
}

/** @throws TenantsFileError that names the `strict` agents which ask for what the provider cannot do */
export function requireSupport(tenants: readonly Tenant[], file: string, provider: Provider): void {
  const problems = find(tenants, provider)
    .filter(({ agent }) => agent.strict === true)
    .map(({ name, fields }) => ({
      path: `agent ${name}`,
      message: `is strict, and asks for what the provider ${provider.name} cannot do: ${fields.join(', ')}`,
    }));
  if (problems.length > 0) throw new TenantsFileError(file, problems);
}
