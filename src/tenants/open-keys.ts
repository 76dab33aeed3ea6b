import type { KeyWarning } from '../protocol/operator/key.ts';
import type { Tenant, WidgetKey } from '../stores/tenants/contract.ts';
import { isDemo } from './demo.ts';

type Terms = Pick<WidgetKey, 'agents' | 'allowOverrides' | 'totals' | 'revokedAtMs'>;

/** What each warning means, in a few words. */
const words: Readonly<Record<KeyWarning, string>> = {
  overrides: 'pages may ask for any model and instructions',
  no_totals: 'nothing bounds what all its visitors use in a day',
  any_agent: 'pages may ask for any agent, or for none',
};

/**
 * What makes a key open, so that it would be a free model for anyone who copies it. Everybody can read the key of a page and invent visitors, each
 * with limits of its own for the day.
 */
export function warningsOf(
  { agents, allowOverrides, totals, revokedAtMs }: Terms,
  tenant: Pick<Tenant, 'totals'>,
): KeyWarning[] {
  if (revokedAtMs !== null) return [];
  const isBounded = [totals, tenant.totals].some(
    (ceilings) => ceilings?.dollarsDaily !== undefined || ceilings?.tokensDaily !== undefined,
  );
  return [
    ...(allowOverrides ? (['overrides'] as const) : []),
    ...(isBounded ? [] : (['no_totals'] as const)),
    ...(agents === null ? (['any_agent'] as const) : []),
  ];
}

/** For example `overrides: pages may ask for any model and instructions`. */
export function describeWarning(warning: KeyWarning): string {
  return `${warning.replace('_', ' ')}: ${words[warning]}`;
}

/** Every open key by name, with the reasons in words; except the demo's, which works on this machine only. */
export function describeOpenKeys(tenants: readonly Tenant[]): string[] {
  return tenants.flatMap((tenant) =>
    tenant.keys
      .filter((key) => !isDemo(key))
      .map((key) => ({ key, warnings: warningsOf(key, tenant) }))
      .filter(({ warnings }) => warnings.length > 0)
      .map(({ key, warnings }) => `${tenant.id}/${key.id}: ${warnings.map((warning) => words[warning]).join('; ')}`),
  );
}
