import type { AuditRole } from '../stores/audit/contract.ts';
import type { AdminRight, KeyLimits, Tenant, WidgetKey } from '../stores/tenants/contract.ts';

/** What the installation sets for the keys that are issued in it. */
export interface KeyRules {
  /** The WIDGET_* limits. */
  readonly widget: Required<KeyLimits>;
  /** What is wrong with brokered calls here; undefined where the provider has them. */
  readonly noBrokering: string | undefined;
}

interface Fault {
  readonly path: string;
  readonly message: string;
}

type Asked = Partial<Pick<WidgetKey, 'limits' | 'call'>>;

/** What no key can have in this installation. */
export function findImpossible({ call }: Asked, { noBrokering }: KeyRules): Fault[] {
  return call === 'brokered' && noBrokering !== undefined ? [{ path: 'call', message: noBrokering }] : [];
}

/**
 * What an admin of a tenant may not give a key: more for a visitor than the installation gives, and calls that it neither hears nor hangs
 * up, because who runs the installation pays for them. The entry of the tenant may permit either (`adminsMay`).
 */
export function findForbidden(
  { limits = {}, call }: Asked,
  role: AuditRole,
  tenant: Tenant,
  { widget }: KeyRules,
): Fault[] {
  if (role !== 'tenant_admin') return [];
  const may = (right: AdminRight): boolean => tenant.adminsMay?.includes(right) === true;
  const faults = may('limits') ? [] : Object.entries(widget).flatMap(([name, most]) => tooHigh(name, limits, most));
  if (call === 'direct' && !may('direct'))
    faults.push({ path: 'call', message: `must be left out: direct calls ${forOperators('direct')}` });
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
