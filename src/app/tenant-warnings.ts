import { MINUTE_MS, SECOND_MS } from '../kernel/time.ts';
import { serverToolsOf } from '../protocol/server-tool.ts';
import type { Agent, Tenant, WidgetKey } from '../stores/tenants/contract.ts';
import { channelOf, type CallModeOf } from '../tenants/agents.ts';
import { isDemo } from '../tenants/demo.ts';
import { TenantsFileError } from '../tenants/tenants-file.ts';
import { unsupportedOf } from '../upstream/behaviour.ts';
import { hearsCalls, type UpstreamProvider } from '../upstream/contract.ts';

// Finds settings of tenants that have no effect with the provider, or are less safe than they could be.

type Provider = Pick<UpstreamProvider, 'name' | 'capabilities' | 'transcriber'>;

/** An agent that asks for what its provider cannot do. */
interface UnsupportedAgent {
  /** The tenant's id and the agent's. */
  readonly name: string;
  readonly agent: Agent;
  /** Fields of the agent that have no effect with the provider. */
  readonly fields: readonly string[];
}

function unsupportedIn(tenants: readonly Tenant[], provider: Provider): UnsupportedAgent[] {
  const agents = tenants.flatMap(({ id, agents: its }) => its.map((agent) => ({ name: `${id}/${agent.id}`, agent })));
  return agents.flatMap(({ name, agent }) => {
    const isWithTools = !provider.capabilities.tools && (agent.tools ?? []).length > 0;
    const fields = [...(isWithTools ? ['tools'] : []), ...unsupportedOf(provider, agent)];
    return fields.length === 0 ? [] : [{ name, agent, fields }];
  });
}

/** Warns of what agents ask for but the provider's calls cannot have, a line each (docs/agents.md). A create that asks for tools is refused. */
export function findUnsupported(tenants: readonly Tenant[], provider: Provider): string[] {
  return unsupportedIn(tenants, provider).map(
    ({ name, fields }) =>
      `the provider ${provider.name} cannot do what the agent ${name} asks for: ${fields.join(', ')}`,
  );
}

/** @throws TenantsFileError that names the `strict` agents which ask for what the provider cannot do */
export function requireSupport(tenants: readonly Tenant[], file: string, provider: Provider): void {
  const problems = unsupportedIn(tenants, provider)
    .filter(({ agent }) => agent.strict === true)
    .map(({ name, fields }) => ({
      path: `agent ${name}`,
      message: `is strict, and asks for what the provider ${provider.name} cannot do: ${fields.join(', ')}`,
    }));
  if (problems.length > 0) throw new TenantsFileError(file, problems);
}

/** Warns where server tools of agents have no effect, or are less safe than they could be, a line for each case. */
export function findToolWarnings(tenants: readonly Tenant[], provider: Provider, modeOf: CallModeOf): string[] {
  const agents = tenants.flatMap((tenant) =>
    tenant.agents.filter(({ tools = [] }) => serverToolsOf(tools).size > 0).map((agent) => ({ tenant, agent })),
  );
  const overriding = agents.flatMap(({ tenant, agent }) =>
    keysOf(tenant, agent).filter(({ allowOverrides }) => allowOverrides),
  );
  return [
    ...agents.flatMap(({ tenant, agent }) => toolWarningsOf(tenant, agent, provider, modeOf)),
    ...warningOf(
      [...new Set(overriding)],
      (names) =>
        `tools that a create brings along have no address for Switchboard: their url and headers are ignored (${names})`,
    ),
  ];
}

function toolWarningsOf(tenant: Tenant, agent: Agent, { name, capabilities }: Provider, modeOf: CallModeOf): string[] {
  const who = `tools of the server that the agent ${tenant.id}/${agent.id} has`;
  if (!capabilities.converses)
    return [`${who} are never called: the provider ${name} does not tell Switchboard what an agent asks for`];
  const keys = keysOf(tenant, agent);
  const isDirect = ({ call }: WidgetKey): boolean => modeOf(call ?? agent.call) === 'direct';
  const open = keys.filter((key) => !isDirect(key) && (key.dataChannel ?? agent.dataChannel) === 'open');
  return [
    ...warningOf(
      keys.filter(isDirect),
      (names) =>
        `${who} are not told to it in direct calls, where nobody would answer (${names}): set call to brokered`,
    ),
    ...warningOf(
      open,
      (names) => `${who} can be asked for by pages in words of their own (${names}): set dataChannel to none`,
    ),
  ];
}

/** Warns of agents whose visitors get no captions of what they say where nobody chose that (docs/agents.md), a line for each agent. */
export function findUncaptioned(tenants: readonly Tenant[], provider: Provider, modeOf: CallModeOf): string[] {
  if (provider.transcriber !== null) return [];
  const agents = tenants.flatMap((tenant) => tenant.agents.map((agent) => ({ tenant, agent })));
  return agents.flatMap(({ tenant, agent }) =>
    warningOf(
      keysOf(tenant, agent).filter(
        (key) =>
          agent.transcribe === undefined &&
          modeOf(key.call ?? agent.call) === 'brokered' &&
          channelOf(key, agent) === 'none',
      ),
      (names) =>
        `visitors of the agent ${tenant.id}/${agent.id} get no captions of what they say, because no deployment is named that transcribes them (${names}): set transcribe.model of the agent, or transcribe to false`,
    ),
  );
}

/** The keys in use that may ask for the agent. */
function keysOf({ keys }: Tenant, { id }: Agent): readonly WidgetKey[] {
  return keys.filter((key) => isInUse(key) && (key.agents === null || key.agents.includes(id)));
}

interface Installation {
  readonly provider: Pick<UpstreamProvider, 'name' | 'capabilities'>;
  readonly modeOf: CallModeOf;
  /** MAX_SESSION_MINUTES. */
  readonly maxMinutes: number;
}

/** Warns where `limits.newVisitorSeconds` of a key in use has no effect (docs/contract.md, section 4.5), a line for each reason. */
export function findNewVisitorWarnings(
  tenants: readonly Tenant[],
  { provider, modeOf, maxMinutes }: Installation,
): string[] {
  const secondsOf = ({ limits }: WidgetKey): number | undefined => limits.newVisitorSeconds;
  const limitedOf = ({ keys }: Tenant): readonly WidgetKey[] =>
    keys.filter((key) => secondsOf(key) !== undefined && isInUse(key));
  const unheard = tenants.flatMap((tenant) =>
    limitedOf(tenant).filter((key) => callsOf(key, tenant).some((call) => !hearsCalls(modeOf(call), provider))),
  );
  const long = tenants.flatMap(limitedOf).filter((key) => (secondsOf(key) ?? 0) * SECOND_MS >= maxMinutes * MINUTE_MS);
  const why = hearsCalls('brokered', provider)
    ? ' on sessions whose calls are not heard here: set call to brokered'
    : `: calls of the provider ${provider.name} are not heard here`;
  return [
    ...warningOf(unheard, (names) => `limits.newVisitorSeconds (${names}) has no effect${why}`),
    ...warningOf(
      long,
      (names) =>
        `limits.newVisitorSeconds (${names}) has no effect: no session lasts longer than MAX_SESSION_MINUTES (${maxMinutes})`,
    ),
  ];
}

/** The call modes that the key and its agents ask for. */
function callsOf({ call, agents: pins }: WidgetKey, { agents }: Tenant) {
  if (call !== null) return [call];
  const own = agents.filter(({ id }) => pins?.includes(id) ?? true).map((agent) => agent.call);
  return pins === null ? [...own, undefined] : own;
}

/** Revoked keys open nothing, and the demo's work on this machine only. */
function isInUse(key: WidgetKey): boolean {
  return key.revokedAtMs === null && !isDemo(key);
}

/** One warning for all of these keys; none without any. */
function warningOf(keys: readonly WidgetKey[], words: (names: string) => string): string[] {
  return keys.length === 0 ? [] : [words(keys.map(({ tenantId, id }) => `${tenantId}/${id}`).join(', '))];
}
