import type { Config } from '../../config/config.ts';
import { transcriptionOf } from '../protocol/behaviour.ts';
import type { ModelPrice } from '../protocol/price.ts';
import { Refusal } from '../protocol/refusal.ts';
import type { BudgetLimits } from '../budgets/budgets.ts';
import type { QuotaDay } from './calendar.ts';
import { boundedDays, totalCeilings, type Ceilings, type CeilingsHolder } from './ceilings.ts';
import type { HeldAccount, Holds } from '../stores/holds/contract.ts';
import type { SessionSetup } from '../stores/session-setups/contract.ts';
import type { UpstreamProvider } from '../upstream/contract.ts';

export interface ReserveDeps {
  readonly holds: Pick<Holds, 'take'>;
  readonly calendar: (atMs: number) => QuotaDay;
  readonly budgets: Pick<BudgetLimits, 'dayCeilingsOf'>;
  readonly config: Pick<Config, 'calls'>;
  readonly prices: {
    priceOf(model: string, own: ModelPrice | null): { readonly price: ModelPrice };
  };
  readonly provider: Pick<UpstreamProvider, 'capabilities'>;
}

/**
 * Reserves what the next call of a session is expected to use, under the ceilings of the subject, its key and its tenant (docs/contract.md, section
 * 5.12), so that sessions which talk at the same time cannot all count on the same remainder. A session without a call holds nothing.
 * @param untilMs when the hold lapses, in case nobody sees the session's end
 * @returns DAILY_QUOTA_EXCEEDED when nothing is left that is neither used nor held: then nothing changes
 * @throws Unavailable when the database is away
 */
export async function reserveUsage(
  who: CeilingsHolder,
  setup: SessionSetup,
  untilMs: number,
  at: number,
  deps: ReserveDeps,
): Promise<Refusal | undefined> {
  const { holds, calendar, budgets } = deps;
  const microDollars = reserveOf(setup, deps);
  if (microDollars === undefined) return undefined;
  const accounts = accountsOf(who, calendar(at).day, await budgets.dayCeilingsOf(who, at));
  const isHeld = await holds.take(setup.sessionId, accounts, { tokens: 0, microDollars }, untilMs, at);
  return isHeld ? undefined : nothingLeft();
}

/** Micro-dollars that the next call of a session is expected to use in RESERVE_SEC; undefined where its calls are not metered here. */
function reserveOf(
  { callMode, model, price, behaviour }: SessionSetup,
  { config, prices, provider }: Pick<ReserveDeps, 'config' | 'prices' | 'provider'>,
): number | undefined {
  const { reserveSec } = config.calls;
  if (callMode !== 'brokered' || reserveSec === 0) return undefined;
  const { estimatePerMinute, perMinute = 0, minimumSec = 0 } = prices.priceOf(model, price).price;
  const transcriber = transcriptionOf(behaviour ?? {})?.model;
  // A provider that bills connected time does not charge for transcription.
  const isTranscribing = transcriber !== undefined && provider.capabilities.meter === 'events';
  const transcription = isTranscribing ? prices.priceOf(transcriber, null).price.estimatePerMinute : 0;
  return Math.ceil(Math.max((estimatePerMinute + transcription) * reserveSec, perMinute * minimumSec) / 60);
}

/** Each account once, with the lowest of its ceilings. */
function accountsOf(
  { subject, limits, shared }: CeilingsHolder,
  day: string,
  ofBudgets: readonly { readonly account: string; readonly ceilings: Ceilings }[],
): HeldAccount[] {
  const own = { account: subject, ceilings: limits };
  const others = boundedDays(shared).map(({ account, totals }) => ({ account, ceilings: totalCeilings(totals) }));
  const found = new Map<string, HeldAccount>();
  for (const { account, ceilings } of [own, ...others, ...ofBudgets]) {
    const { tokens = Infinity, microDollars = Infinity } = found.get(account)?.ceilings ?? {};
    const lowest = {
      tokens: Math.min(tokens, ceilings.dailyTokens),
      microDollars: Math.min(microDollars, ceilings.dailyMicroDollars),
    };
    found.set(account, { account, day, ceilings: lowest });
  }
  return [...found.values()];
}

function nothingLeft(): Refusal {
  return new Refusal(
    'DAILY_QUOTA_EXCEEDED',
    'What is left of the daily token or dollar ceiling is held by sessions that talk; try again when one of them has ended or gone idle, or wait for the next day.',
    {},
    { lever: 'RESERVE_SEC', fact: 'what is left is held back by sessions that talk' },
  );
}
