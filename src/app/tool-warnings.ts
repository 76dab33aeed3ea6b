import { serverToolsOf } from '../protocol/server-tool.ts';
import type { Agent, Tenant, WidgetKey } from '../stores/tenants/contract.ts';
import { isDemo } from '../tenants/demo.ts';
import type { CallModeOf } from '../tenants/agents.ts';
import type { UpstreamProvider } from '../upstream/contract.ts';

type Provider = Pick<UpstreamProvider, 'name' | 'capabilities'>;

/** Warns where server tools of agents have no effect, or are less safe than they could be, a line for each case. */
export function findToolWarnings(tenants: readonly Tenant[], provider: Provider, modeOf: CallModeOf): string[] {
  const agents = tenants.flatMap((tenant) =>
    tenant.agents.filter(({ tools = [] }) => serverToolsOf(tools).size > 0).map((agent) => ({ tenant, agent })),
  );
  const warnings = agents.flatMap(({ tenant, agent }) => warningsOf(tenant, agent, provider, modeOf));
  const overriding = new Set(agents.flatMap(({ tenant, agent }) => keysOf(tenant, agent).filter(mayOverride)));
  return overriding.size === 0 ? warnings : [...warnings, overridesOf([...overriding])];
}

function warningsOf(tenant: Tenant, agent: Agent, { name, capabilities }: Provider, modeOf: CallModeOf): string[] {
  const who = `tools of the server that the agent ${tenant.id}/${agent.id} has`;
  if (!capabilities.converses)
    return [`${who} are never called: the provider ${name} does not tell Switchboard what an agent asks for`];
  const keys = keysOf(tenant, agent);
  const isDirect = ({ call }: WidgetKey): boolean => modeOf(call ?? agent.call) === 'direct';
  const direct = keys.filter(isDirect);
  const open = keys.filter((key) => !isDirect(key) && (key.dataChannel ?? agent.dataChannel) === 'open');
  return [
    ...(direct.length === 0
      ? []
      : [
          `${who} are not told to it in direct calls, where nobody would answer (${namesOf(direct)}): set call to brokered`,
        ]),
    ...(open.length === 0
      ? []
      : [`${who} can be asked for by pages in words of their own (${namesOf(open)}): set dataChannel to none`]),
  ];
}

/** One warning for all of these keys. */
function overridesOf(keys: readonly WidgetKey[]): string {
  return `tools that a create brings along have no address for Switchboard: their url and headers are ignored (${namesOf(keys)})`;
}

/** The keys in use that may ask for the agent, without the demo's, which work on this machine only. */
function keysOf({ keys }: Tenant, { id }: Agent): readonly WidgetKey[] {
  const used = keys.filter((key) => key.revokedAtMs === null && !isDemo(key));
  return used.filter(({ agents }) => agents === null || agents.includes(id));
}

function mayOverride({ allowOverrides }: WidgetKey): boolean {
  return allowOverrides;
}

function namesOf(keys: readonly WidgetKey[]): string {
  return keys.map(({ tenantId, id }) => `${tenantId}/${id}`).join(', ');
}
