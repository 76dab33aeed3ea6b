import type { CallMode, DataChannel } from '../protocol/call.ts';
import type { KeyBots } from '../protocol/challenge.ts';
import type { ActRole } from '../stores/journal/act-contract.ts';
import type { KeyLimits, KeyTotals, Tenant, WidgetKey } from '../stores/tenants/contract.ts';

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

export type KeyTerms = Pick<
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
