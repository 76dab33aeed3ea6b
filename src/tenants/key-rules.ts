import type { CallMode, DataChannel } from '../protocol/call.ts';
import type { KeyBots } from '../protocol/challenge.ts';
import type { KeyWarning } from '../protocol/operator/key.ts';
import type { ActRole } from '../stores/journal/act-contract.ts';
import type { AdminRight, KeyLimits, KeyOverrides, KeyTotals, Tenant, WidgetKey } from '../stores/tenants/contract.ts';
import { isDemo } from './demo.ts';

/** What may be asked for in a new key. */
export interface KeyWish {
  readonly label?: string | undefined;
  /** Null: any agent, or none. */
  readonly agents?: readonly string[] | null | undefined;
  readonly allowOverrides?: boolean | undefined;
  readonly call?: CallMode | undefined;
  readonly dataChannel?: DataChannel | undefined;
  readonly limits?: KeyLimits | undefined;
  readonly totals?: KeyTotals | undefined;
  readonly bots?: KeyBots | undefined;
}

type KeyTerms = Pick<
  WidgetKey,
  'label' | 'agents' | 'allowOverrides' | 'call' | 'dataChannel' | 'limits' | 'totals' | 'bots'
>;

/** What all visitors of a new key may use together unless somebody says otherwise: as much as ten visitors by the default limits. */
const USUAL_TOTALS: KeyTotals = {
  sessionsPerMinute: 120,
  concurrentSessions: 100,
  tokensDaily: 3_000_000,
  dollarsDaily: 200,
};

/**
 * The terms of a new key, however it is issued: as safe as a key that anyone can copy should be, unless something else was asked for explicitly. For
 * an admin of the tenant, totals that are left out get the usual values, because such a key must always have them.
 */
export function newKeyTerms(wish: KeyWish, tenant: Pick<Tenant, 'agents'>, role: ActRole): KeyTerms {
  const { label = '', allowOverrides = false, call = null, dataChannel = 'none', limits = {}, bots } = wish;
  const own = tenant.agents.map(({ id }) => id);
  const { agents = own.length === 0 ? null : own, totals = USUAL_TOTALS } = wish;
  return {
    label,
    agents,
    allowOverrides,
    call,
    dataChannel,
    limits,
    ...(bots !== undefined && { bots }),
    totals: role === 'tenant_admin' ? { ...USUAL_TOTALS, ...totals } : totals,
  };
}

/** The installation's rules for keys that are issued in it. */
export interface KeyRules {
  /** The WIDGET_* limits. */
  readonly widget: Required<KeyOverrides>;
  /** Why brokered calls are not possible here; undefined if the provider has them. */
  readonly noBrokering: string | undefined;
  /** Whether Switchboard hears what happens in brokered calls. */
  readonly hearsCalls: boolean;
}

interface Fault {
  readonly path: string;
  readonly message: string;
}

/** What no key of this installation can have. */
export function findImpossible({ call, limits }: KeyWish, { noBrokering, hearsCalls }: KeyRules): Fault[] {
  const isUnheard = !hearsCalls && limits?.newVisitorSeconds !== undefined;
  return [
    ...(call === 'brokered' && noBrokering !== undefined ? [{ path: 'call', message: noBrokering }] : []),
    ...(isUnheard ? [unheard('calls are not heard here')] : []),
  ];
}

/** Contradictions within a key, wherever it comes from. */
export function findContradicting({ call, limits }: Pick<WidgetKey, 'call' | 'limits'>): Fault[] {
  const isUnheard = call === 'direct' && limits.newVisitorSeconds !== undefined;
  return isUnheard ? [unheard('direct calls are not heard; set call to brokered')] : [];
}

/** If nobody hears whether a visitor says something, nobody can wait for it. */
function unheard(why: string): Fault {
  return { path: 'limits.newVisitorSeconds', message: `must be left out: ${why}` };
}

/**
 * What an admin of a tenant may not give a key, because the operator of the installation pays for it: whatever makes the key open (`warningsOf`),
 * higher limits for a visitor than the installation gives, calls that the installation neither hears nor hangs up, and pages that speak to the
 * provider themselves. The tenant's entry may permit all but the first (`adminsMay`).
 */
export function findForbidden(
  { limits = {}, call, dataChannel, allowOverrides, agents, bots }: KeyWish,
  role: ActRole,
  tenant: Tenant,
  rules: KeyRules | undefined,
): Fault[] {
  if (role !== 'tenant_admin') return [];
  const faults: Fault[] = [];
  const add = (path: string, message: string) => faults.push({ path, message });
  const may = (right: AdminRight): boolean => tenant.adminsMay?.includes(right) === true;
  if (allowOverrides === true) add('allowOverrides', 'must be false: only an operator may let pages change an agent');
  if (agents === null && tenant.agents.length > 0)
    add('agents', 'must be left out or name agents: only an operator may let pages choose any');
  // Whoever pays for what a script opens decides what the script has to solve.
  if (bots !== undefined) add('bots', 'must be left out: only an operator may say how callers are challenged');
  if (!may('limits'))
    faults.push(...Object.entries(rules?.widget ?? {}).flatMap(([name, most]) => tooHigh(name, limits, most)));
  if (call === 'direct' && !may('direct')) add('call', `must be left out: direct calls ${forOperators('direct')}`);
  if (dataChannel === 'open' && !may('direct'))
    add('dataChannel', `must be none: an open data channel ${forOperators('direct')}`);
  return faults;
}

function tooHigh(name: string, limits: KeyLimits, most: number): Fault[] {
  const value = limits[name as keyof KeyLimits];
  if (value === undefined || value <= most) return [];
  return [{ path: `limits.${name}`, message: `must be at most ${most}: more ${forOperators('limits')}` }];
}

function forOperators(right: AdminRight): string {
  return `can be set by an operator, or where the tenant's adminsMay in TENANTS_FILE has "${right}"`;
}

/** What each warning means, in a few words. */
const warningTexts: Readonly<Record<KeyWarning, string>> = {
  overrides: 'pages may ask for any model and instructions',
  no_totals: 'nothing bounds what all its visitors use in a day',
  any_agent: 'pages may ask for any agent, or for none',
};

/**
 * What makes a key open, so that it would be a free model for anyone who copies it. Everybody can read the key of a page and invent visitors, each
 * with limits of its own for the day.
 */
export function warningsOf(
  {
    agents,
    allowOverrides,
    totals,
    revokedAtMs,
  }: Pick<WidgetKey, 'agents' | 'allowOverrides' | 'totals' | 'revokedAtMs'>,
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
  return `${warning.replace('_', ' ')}: ${warningTexts[warning]}`;
}

/** Every open key by name, with the reasons in words; except the demo's, which works on this machine only. */
export function describeOpenKeys(tenants: readonly Tenant[]): string[] {
  return tenants.flatMap((tenant) =>
    tenant.keys
      .filter((key) => !isDemo(key))
      .map((key) => ({ key, warnings: warningsOf(key, tenant) }))
      .filter(({ warnings }) => warnings.length > 0)
      .map(
        ({ key, warnings }) => `${tenant.id}/${key.id}: ${warnings.map((warning) => warningTexts[warning]).join('; ')}`,
      ),
  );
}

/** Lower-case words of letters and digits, at most 40 characters. */
export function words(text: string, joint: '_' | '-'): string {
  const joined = text.toLowerCase().replaceAll(/[^a-z0-9]+/g, joint);
  const cut = joined.slice(0, 40);
  return cut.replaceAll(/^[_-]+|[_-]+$/g, '');
}

/**
 * Ids for new keys of a site that an operator can recognize and guess: `acme-www`, then `acme-www-2`.
 * @param taken the ids that the tenant has, including those of revoked keys
 */
export function freeIds(tenantId: string, site: string, count: number, taken: ReadonlySet<string>): string[] {
  const [owner, place] = [words(tenantId, '-'), words(site, '-')];
  const base = owner === '' || place === owner || place.startsWith(`${owner}-`) ? place : `${owner}-${place}`;
  const ids: string[] = [];
  for (let number = 1; ids.length < count; number += 1) {
    const id = number === 1 ? base : `${base}-${number}`;
    if (!taken.has(id)) ids.push(id);
  }
  return ids;
}
