import { CallBudgets } from '../metering/call-budgets.ts';
import { createClientReports } from '../metering/client-reports.ts';
import { CallMetering } from '../metering/metering.ts';
import { BudgetLimits } from '../budgets/budgets.ts';
import { createPeriods } from '../quota/calendar.ts';
import { createCeilings } from '../quota/ceilings.ts';
import { createUsage } from '../quota/usage.ts';
import type { TenantDirectory } from '../tenants/directory.ts';
import { isBrokered } from '../upstream/contract.ts';
import type { VoiceSessions } from '../sessions/sessions.ts';
import type { Core } from './core.ts';
import type { AdminsOf } from './webhooks.ts';

/** Daily ceilings in the metrics: there may be any number of keys, too many for labels. */
const MAX_SHARES_TOLD = 1000;

interface UsageNeighbours {
  readonly sessions: VoiceSessions;
  readonly tenants: TenantDirectory;
  readonly adminsOf: AdminsOf;
}

export type OpenUsage = ReturnType<typeof openUsage>;

/** Usage and its ceilings, and the meter of calls: what counts usage, and what is left. */
export function openUsage(core: Core, { sessions, tenants, adminsOf }: UsageNeighbours) {
  const { config, stores, live, calendar, journal, metrics, provider } = core;
  const { ledger, holds } = stores;
  const budgetLimits = new BudgetLimits({
    ...stores,
    node: core.node.id,
    adminsOf,
    onShares(shares) {
      // Removes budgets that were deleted or renamed.
      metrics.budgetUsed.reset();
      for (const [{ tenantId, id, of }, share] of shares)
        // There may be any number of users, too many for a metric's labels.
        if (!of.startsWith('user:')) metrics.budgetUsed.set({ tenant: tenantId ?? '', budget: id }, share);
    },
    clock: core.clock,
    directory: tenants,
    sessions,
    calendar,
    periodAt: createPeriods(config.quotaTimeZone, calendar),
  });
  const parts = {
    ...core,
    ...createCeilings({ limits: config.callers, tenants }),
    budgets: budgetLimits,
    ledger,
    holds,
    sessions,
    tenants,
    bus: live.bus,
    note: journal.note,
  };
  const budgets = new CallBudgets(parts);
  const metering = new CallMetering({ ...parts, listener: budgets });
  const clientReports = createClientReports({
    isSimulated: provider.simulated,
    setups: stores.sessionSetups,
    calls: stores.calls,
    ledger,
    metering,
    readUsage: (usage) => (isBrokered(provider) ? provider.readUsage?.(usage) : undefined),
  });
  metrics.observe(
    'switchboard_metered_usage_waiting',
    'Entries of metered usage that wait for the database',
    () => metering.waiting,
  );
  const usage = createUsage({ ...parts, clientReports });
  metrics.observeEach(
    'switchboard_daily_ceiling_used_ratio',
    'Share of the daily totals of a tenant or key that is used today; only the thousand highest',
    ['tenant', 'key'],
    async () => {
      const shares = await usage.readDayShares(core.clock.now());
      const most = shares.slice(0, MAX_SHARES_TOLD);
      return most.map(({ tenantId, keyId, share }) => ({
        labels: { tenant: tenantId, key: keyId ?? '' },
        value: share,
      }));
    },
  );
  return {
    ...usage,
    clientReports,
    metering,
    budgets,
  };
}
