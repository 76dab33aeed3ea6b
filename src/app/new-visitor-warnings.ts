import { MINUTE_MS, SECOND_MS } from '../kernel/time.ts';
import type { Tenant, WidgetKey } from '../stores/tenants/contract.ts';
import { isDemo } from '../tenants/demo.ts';
import type { CallModeOf } from '../tenants/agents.ts';
import { hearsCalls, type UpstreamProvider } from '../upstream/contract.ts';

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
  const limited = tenants.flatMap((tenant) => tenant.keys.filter(isLimited).map((key) => ({ tenant, key })));
  const unheard = limited.filter(({ tenant, key }) =>
    callsOf(key, tenant).some((call) => !hearsCalls(modeOf(call), provider)),
  );
  const long = limited.filter(({ key }) => secondsOf(key) * SECOND_MS >= maxMinutes * MINUTE_MS);
  const say = (keys: typeof limited, what: string): string[] =>
    keys.length === 0 ? [] : [`limits.newVisitorSeconds (${keys.map(nameOf).join(', ')}) ${what}`];
  const isDeaf = !hearsCalls('brokered', provider);
  return [
    ...say(
      unheard,
      isDeaf
        ? `has no effect: calls of the provider ${provider.name} are not heard here`
        : 'has no effect on sessions whose calls are not heard here: set call to brokered',
    ),
    ...say(long, `has no effect: no session lasts longer than MAX_SESSION_MINUTES (${maxMinutes})`),
  ];
}

function isLimited(key: WidgetKey): boolean {
  return key.limits.newVisitorSeconds !== undefined && key.revokedAtMs === null && !isDemo(key);
}

/** The call modes that the key and its agents ask for. */
function callsOf({ call, agents: pins }: WidgetKey, { agents }: Tenant) {
  if (call !== null) return [call];
  const own = agents.filter(({ id }) => pins?.includes(id) ?? true).map((agent) => agent.call);
  return pins === null ? [...own, undefined] : own;
}

function secondsOf({ limits: { newVisitorSeconds = 0 } }: WidgetKey): number {
  return newVisitorSeconds;
}

function nameOf({ key: { tenantId, id } }: { readonly key: WidgetKey }): string {
  return `${tenantId}/${id}`;
}
