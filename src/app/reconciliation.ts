import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../../config/config.ts';
import { type Prices, priceTokens } from '../metering/prices.ts';
import type { ReconcileDeps } from '../reconciliation/reconcile.ts';
import { DAY_MS, iso } from '../kernel/time.ts';
import { addressesOf } from '../protocol/email.ts';
import { driftsOf } from '../reconciliation/verdict.ts';
import { chargeOf } from '../stores/ledger/contract.ts';
import { RECONCILED_DAYS } from '../stores/reconciliations/contract.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { OpenAiUsage } from '../upstream/openai-usage.ts';

/** Reading a day's usage is larger than other requests, so it may take longer. */
const TIMEOUT_MS = 30_000;

type Parts = Pick<ReconcileDeps, 'clock' | 'events' | 'store'> & {
  readonly config: Pick<Config, 'reconciliation' | 'upstream' | 'operatorEmails'>;
  readonly prices: Pick<Prices, 'find' | 'dearest'>;
};

/** Compares our count with the provider's; undefined without OPENAI_ADMIN_KEY. */
export function openReconciliation({ config, prices, ...parts }: Parts): ReconcileDeps | undefined {
  const { adminKey, baseUrl } = config.reconciliation;
  if (adminKey === undefined) return undefined;
  const { openAiProject: project } = config.upstream;
  const reader = new OpenAiUsage({ adminKey, baseUrl, project, timeoutMs: TIMEOUT_MS, wait: (ms) => delay(ms) });
  return { ...parts, reader, worthOf: worthAt(prices), mailTo: addressesOf(config.operatorEmails) };
}

/** What tokens cost by these price lists. */
export function worthAt(prices: Pick<Prices, 'find' | 'dearest'>): ReconcileDeps['worthOf'] {
  return (model, tokens) => {
    const price = prices.find(model);
    return price && chargeOf(priceTokens(tokens, price, prices.dearest));
  };
}

/** Adds the drift to the metrics. Every node reports the same values, because it reads them from the store. */
export function tellDrift(
  { store, clock }: ReconcileDeps,
  { metrics }: { readonly metrics: Pick<Metrics, 'observe' | 'observeEach'> },
): void {
  metrics.observe(
    'switchboard_meter_unexplained_dollars',
    'What was counted of the last three days and is not what the provider says, with nothing that explains it',
    async () => (await store.unexplainedAt(clock.now())) / 1_000_000,
  );
  metrics.observe(
    'switchboard_meter_reconciled_timestamp_seconds',
    'When the provider last gave a usable answer about a day; before the first, when it was first asked; 0 if it never was',
    async () => ((await store.readAtMs()) ?? 0) / 1000,
  );
  metrics.observeEach(
    'switchboard_meter_drift_ratio',
    'By how much of the provider’s tokens our count of a model is above it, or below, on the last day that was compared',
    ['upstream', 'model'],
    async () => driftsOf(await store.list(dayOf(clock.now() - RECONCILED_DAYS * DAY_MS), dayOf(clock.now()))),
  );
}

function dayOf(atMs: number): string {
  return iso(atMs).slice(0, 10);
}
