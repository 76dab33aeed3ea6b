import type { Config } from '../../config/config.ts';
import { createClientReports, type ClientReportsDeps } from '../metering/client-reports.ts';
import type { ClientReports } from '../metering/contract.ts';
import { CallBudgets, type CallBudgetsDeps } from '../metering/call-budgets.ts';
import { CallMetering, type MeteringDeps } from '../metering/metering.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { isBrokered, type UpstreamProvider } from '../upstream/contract.ts';
import type { ReserveDeps } from '../voice/reserve-usage.ts';

export interface MeteringParts extends Omit<MeteringDeps, 'listener'>, CallBudgetsDeps {
  readonly config: Config;
  readonly provider: UpstreamProvider;
  readonly metrics: Metrics;
  readonly sessions: MeteringDeps['sessions'] & CallBudgetsDeps['sessions'];
  readonly ledger: MeteringDeps['ledger'] & ClientReportsDeps['ledger'];
  readonly setups: ClientReportsDeps['setups'];
  readonly calls: ClientReportsDeps['calls'];
}

export interface MeteringFeature extends Pick<ReserveDeps, 'reserveOf'> {
  readonly metering: CallMetering;
  readonly budgets: CallBudgets;
  readonly clientReports: ClientReports;
}

/** Wires the meter of calls: what counts them, what their clients say, what their sessions hold back. */
export function buildMetering(parts: MeteringParts): MeteringFeature {
  const { config, provider, metrics, ledger, setups, calls, prices } = parts;
  const budgets = new CallBudgets(parts);
  const metering = new CallMetering({ ...parts, listener: budgets });
  metrics.observe(
    'switchboard_metered_usage_waiting',
    'Entries of metered usage that wait for the database',
    () => metering.waiting,
  );
  const { reserveSec } = config.calls;
  return {
    metering,
    budgets,
    clientReports: createClientReports({
      isSimulated: provider.simulated,
      setups,
      calls,
      ledger,
      metering,
      readUsage: (usage) => (isBrokered(provider) ? provider.readUsage?.(usage) : undefined),
    }),
    reserveOf({ callMode, model, price }) {
      if (callMode !== 'brokered' || reserveSec === 0) return undefined;
      const { estimatePerMinute, perMinute = 0, minimumSec = 0 } = prices.priceOf(model, price).price;
      return Math.ceil(Math.max(estimatePerMinute * reserveSec, perMinute * minimumSec) / 60);
    },
  };
}
