import { keyAccount, tenantAccount, type UsageTotals } from '../stores/ledger/contract.ts';
import type { KeyTotals, Tenant, WidgetKey } from '../stores/tenants/contract.ts';
import { exceeds, totalCeilings } from './ceilings.ts';

/** Ceilings that several subjects share: those of a widget key, or those of all keys of its tenant. */
export interface SharedCeilings {
  /** Under which the ledger adds up what they use. */
  readonly account: string;
  readonly whose: 'key' | 'tenant';
  readonly totals: KeyTotals;
}

/** Who shares such a ceiling, for the caller who is refused. */
export const SHARED_BY: Readonly<Record<SharedCeilings['whose'], string>> = {
  key: 'this widgetKey',
  tenant: 'this tenant',
};

/** What a caller with a widget key shares with others, its key first; without one it shares nothing. */
export type SharedOf = (tenantId: string, keyId: string | null) => readonly SharedCeilings[];

export function sharedCeilings(
  tenantId: string,
  keyId: string | null,
  key: Pick<WidgetKey, 'totals'> | undefined,
  tenant: Pick<Tenant, 'totals'> | undefined,
): readonly SharedCeilings[] {
  if (keyId === null) return [];
  return [
    { account: keyAccount(tenantId, keyId), whose: 'key', totals: key?.totals ?? {} },
    { account: tenantAccount(tenantId), whose: 'tenant', totals: tenant?.totals ?? {} },
  ];
}

/** Those with a ceiling of tokens or dollars a day. */
export function boundedDays(shared: readonly SharedCeilings[]): readonly SharedCeilings[] {
  return shared.filter(({ totals }) => totals.tokensDaily !== undefined || totals.dollarsDaily !== undefined);
}

/** What the ledger says of the shared accounts; null for usage without a widget key. */
export interface SharedTotals {
  readonly keyTotals: UsageTotals | null;
  readonly tenantTotals: UsageTotals | null;
}

/** Those that are over their ceilings of the day. */
export function exceeded(
  shared: readonly SharedCeilings[],
  { keyTotals, tenantTotals }: SharedTotals,
): readonly SharedCeilings[] {
  const totals = { key: keyTotals, tenant: tenantTotals };
  return shared.filter((one) => {
    const used = totals[one.whose];
    return used !== null && exceeds(used, totalCeilings(one.totals));
  });
}

/** The field that sets a ceiling. */
export function leverOfShared(field: keyof KeyTotals, whose: SharedCeilings['whose']): string {
  return whose === 'key' ? `totals.${field}` : `totals.${field} of the tenant`;
}
