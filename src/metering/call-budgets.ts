import type { WorstCase } from '../../machines/held-call/responses.ts';
import { type Clock, MINUTE_MS } from '../kernel/time.ts';
import { type Eventually, settleAll } from '../kernel/async.ts';
import type { BudgetLimits } from '../budgets/budgets.ts';
import type { KnownDay } from '../budgets/counted-by.ts';
import type { QuotaDay } from '../quota/calendar.ts';
import { boundedDays, totalCeilings, type CallerCeilings, type Ceilings } from '../quota/ceilings.ts';
import type { Bus } from '../stores/bus/contract.ts';
import type { Holds, Standing } from '../stores/holds/contract.ts';
import {
  chargeOf,
  NOTHING_USED,
  type CallUsage,
  type CallUsageAnswer,
  type UsageTotals,
} from '../stores/ledger/contract.ts';
import {
  addSpending,
  budgetEndsAtMs,
  burnOf,
  leftOf,
  startSpending,
  type Account,
  type Spending,
} from './budget-left.ts';
import type { RemainingBudgets, LimitResponses, MeteredCall, MeteringListener } from './contract.ts';
import { sumOf, type TokenClasses } from '../protocol/price.ts';
import { MAX_RESPONSE_TOKENS } from '../upstream/contract.ts';
import { inputOf, minimumMs, outputRate, priceTokens, type Prices } from './prices.ts';
import { nextBound, responseBound } from './response-bound.ts';

/** Seconds before the end of a budget at which a session's clients are warned (docs/contract.md, section 7.3). */
const WARNING_SECONDS = [10, 60];
/** Once this much time is left again, both warnings are repeated. */
const REARM_MS = 120_000;
const ENDED_AT_ONCE = 50;
export interface CallBudgetsDeps extends Pick<CallerCeilings, 'limitsOf' | 'sharedOf'> {
  readonly holds: Pick<Holds, 'standing'>;
  readonly budgets: Pick<BudgetLimits, 'accountsOf' | 'followCalls'>;
  readonly prices: Prices;
  readonly clock: Clock;
  readonly calendar: (atMs: number) => QuotaDay;
  readonly bus: Pick<Bus, 'publish'>;
  readonly sessions: { end(id: string, reason: 'quota_exceeded', at: number): Eventually<unknown> };
}

interface CallWatch {
  readonly call: MeteredCall;
  readonly limitResponses: LimitResponses;
  spending: Spending;
  /** The cost of reading the context of its last response again. */
  context: UsageTotals;
  /** As last read; empty until the call was opened here. */
  accounts: readonly Account[];
  /** Output tokens that a response may have; undefined until the call was opened here. */
  bound: number | undefined;
  endsAtMs: number;
  /** Whether the end is certain, because the cost depends on time alone. */
  isExact: boolean;
  /** When the minutes of a budget will be used up. */
  minutesEndAtMs: number;
  /** The last warning that was sent, in seconds before the end. */
  toldSec: number;
}

/**
 * Watches the remaining budget of this node's calls: shortens their responses before a ceiling, warns their sessions, and ends sessions whose cost
 * depends on time when their budget is used up (docs/contract.md, section 5.12). Where responses are what costs, only their entries end it.
 */
export class CallBudgets implements RemainingBudgets, MeteringListener {
  readonly #deps: CallBudgetsDeps;
  readonly #watched = new Map<string, CallWatch>();

  constructor(deps: CallBudgetsDeps) {
    this.#deps = deps;
  }

  watch(call: MeteredCall, limitResponses: LimitResponses): void {
    this.#watched.set(call.callId, {
      call,
      limitResponses,
      spending: startSpending(this.#deps.clock.now()),
      context: NOTHING_USED,
      accounts: [],
      bound: undefined,
      endsAtMs: Infinity,
      isExact: false,
      minutesEndAtMs: Infinity,
      toldSec: Infinity,
    });
  }

  release(callId: string): void {
    this.#watched.delete(callId);
  }

  async boundOf(call: MeteredCall): Promise<number | undefined> {
    const watched = this.#watched.get(call.callId);
    if (watched?.bound !== undefined) return watched.bound;
    const rate = this.#outputRate(call);
    if (rate === undefined) return undefined;
    const accounts = await this.#accountsOf(call, this.#deps.clock.now());
    const bound = responseBound(accounts, rate);
    if (watched !== undefined) Object.assign(watched, { accounts, bound });
    return bound;
  }

  affords(callId: string, responses: readonly WorstCase[], uncounted: UsageTotals): boolean {
    const watched = this.#watched.get(callId);
    if (watched === undefined) return true;
    const worst = [uncounted, ...responses.map((response) => this.#worstOf(watched.call, response))];
    const sum = (read: (usage: UsageTotals) => number): number => worst.reduce((all, each) => all + read(each), 0);
    const [tokens, microDollars] = [sum((each) => each.tokens), sum((each) => each.microDollars)];
    const left = watched.accounts.map(leftOf);
    return left.every((each) => tokens <= each.tokens && microDollars <= each.microDollars);
  }

  endsAtMs(callId: string): number {
    const watched = this.#watched.get(callId);
    return watched === undefined ? Infinity : endOf(watched);
  }

  /** @throws Unavailable when the database is away: then the previous values stay in force */
  async counted(call: MeteredCall, usage: CallUsage, { kind, added, ...totals }: CallUsageAnswer): Promise<void> {
    const watched = this.#watched.get(call.callId);
    if (watched === undefined || kind === 'replayed') return;
    const { atMs, day } = usage;
    watched.spending = addSpending(watched.spending, added, atMs);
    const accounts = await this.#accountsOf(call, atMs, { day, added, ...totals });
    watched.accounts = accounts;
    this.#shorten(watched, accounts);
    this.#project(watched, accounts, usage);
    this.#warn(watched, atMs);
  }

  /** Warns, and ends sessions that are over: call it every second. Where a store is away, the next call tries again. */
  async tick(): Promise<void> {
    const atMs = this.#deps.clock.now();
    for (const watched of this.#watched.values()) this.#warn(watched, atMs);
    const over = [...this.#watched.values()].filter(({ isExact, endsAtMs }) => isExact && endsAtMs <= atMs);
    const { sessions } = this.#deps;
    await settleAll(over, async ({ call }) => sessions.end(call.sessionId, 'quota_exceeded', atMs), ENDED_AT_ONCE);
  }

  /** Ends sessions whose budgets have no minutes left, and finds out when the others will run out: call it every second. @throws Unavailable */
  async followMinutes(): Promise<void> {
    const { budgets, clock } = this.#deps;
    const watched = [...this.#watched.values()];
    const owners = watched.map(({ call }) => call);
    const ends = await budgets.followCalls(owners, clock.now());
    for (const [n, one] of watched.entries()) one.minutesEndAtMs = ends[n] ?? Infinity;
  }

  #shorten(watched: CallWatch, accounts: readonly Account[]): void {
    const rate = this.#outputRate(watched.call);
    if (rate === undefined || watched.bound === undefined) return;
    const bound = nextBound(watched.bound, accounts, rate);
    if (bound === watched.bound) return;
    watched.bound = bound;
    watched.limitResponses(bound);
  }

  #project(watched: CallWatch, accounts: readonly Account[], usage: CallUsage): void {
    const { total, atMs } = usage;
    if (total === null) this.#noteContext(watched, usage);
    // A call's minimum is paid in advance: its time costs more only after that.
    const paidMs = total?.ms === this.#minimumMs(watched.call) ? total.ms : 0;
    // The next total gives a better estimate.
    if (total === null && watched.isExact) return;
    watched.isExact = total !== null;
    watched.endsAtMs =
      total === null
        ? budgetEndsAtMs(accounts, burnOf(watched.spending), this.#nextTurn(watched), atMs)
        : budgetEndsAtMs(
            accounts,
            { tokens: 0, microDollars: total.perMinute / MINUTE_MS },
            NOTHING_USED,
            atMs + paidMs,
          );
  }

  /** For responses only: a transcription has no context, and a gap has none that is known. */
  #noteContext(watched: CallWatch, { tokens, model }: CallUsage): void {
    const { call } = watched;
    const context = inputOf(tokens);
    if (model === call.model && sumOf(context) > 0) watched.context = this.#costOf(call, context);
  }

  #costOf({ model, price }: MeteredCall, tokens: TokenClasses): UsageTotals {
    const { prices } = this.#deps;
    const picoDollars = priceTokens(tokens, prices.priceOf(model, price).price, prices.dearest);
    return { tokens: sumOf(tokens), microDollars: chargeOf(picoDollars) };
  }

  #worstOf(call: MeteredCall, response: WorstCase): UsageTotals {
    const outputTokens = Math.min(response.outputTokens, MAX_RESPONSE_TOKENS);
    const { tokens, microDollars } = this.#costOf(call, response.context);
    const output = (outputTokens * (this.#outputRate(call) ?? 0)) / 1_000_000;
    return { tokens: tokens + outputTokens, microDollars: microDollars + output };
  }

  /** The context read once more, and the longest response. */
  #nextTurn({ call, context, bound = 0 }: CallWatch): UsageTotals {
    const response = (bound * (this.#outputRate(call) ?? 0)) / 1_000_000;
    return { tokens: context.tokens + bound, microDollars: context.microDollars + response };
  }

  #outputRate({ model, price }: MeteredCall): number | undefined {
    const { prices } = this.#deps;
    return outputRate(prices.priceOf(model, price).price, prices.dearest);
  }

  #minimumMs({ model, price }: MeteredCall): number {
    return minimumMs(this.#deps.prices.priceOf(model, price).price);
  }

  #warn(watched: CallWatch, atMs: number): void {
    const endsAtMs = endOf(watched);
    const leftMs = endsAtMs - atMs;
    if (leftMs > REARM_MS) watched.toldSec = Infinity;
    const dueSec = WARNING_SECONDS.find((seconds) => leftMs <= seconds * 1000) ?? Infinity;
    if (dueSec >= watched.toldSec) return;
    watched.toldSec = dueSec;
    this.#deps.bus.publish({ type: 'quota.ending', sessionId: watched.call.sessionId, endsAtMs });
  }

  async #accountsOf(call: MeteredCall, atMs: number, known?: KnownDay): Promise<readonly Account[]> {
    const { subject, caller, sessionId, tenantId, keyId } = call;
    const { limitsOf, sharedOf, holds, calendar, budgets } = this.#deps;
    const { day, resetAtMs } = calendar(atMs);
    const asked = new Map<string, Promise<Standing>>();
    // A budget may be for the same subject or key.
    const standingOf = (account: string): Promise<Standing> => {
      const standing = asked.get(account) ?? holds.standing(account, day, sessionId, atMs);
      asked.set(account, standing);
      return standing;
    };
    const read = async (account: string, ceilings: Ceilings): Promise<Account> => ({
      ceilings,
      resetAtMs,
      ...(await standingOf(account)),
    });
    const readBudgets = async (): Promise<Account[]> => {
      const found = (await budgets.accountsOf(call, atMs, known)).map(async ({ account, ...rest }) => {
        const standing = account === null ? undefined : await standingOf(account);
        return { ...rest, heldByOthers: standing?.heldByOthers ?? NOTHING_USED };
      });
      return Promise.all(found);
    };
    const shared = boundedDays(sharedOf(tenantId, keyId));
    const [ofBudgets, ...days] = await Promise.all([
      readBudgets(),
      read(subject, limitsOf(caller, tenantId, keyId)),
      ...shared.map(({ account, totals }) => read(account, totalCeilings(totals))),
    ]);
    return [...days, ...ofBudgets];
  }
}

/** When the first limit of a call will be reached. */
function endOf({ endsAtMs, minutesEndAtMs }: CallWatch): number {
  return Math.min(endsAtMs, minutesEndAtMs);
}
