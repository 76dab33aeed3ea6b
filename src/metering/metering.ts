import { Lru } from '../kernel/collections.ts';
import { MINUTE_MS } from '../kernel/time.ts';
import { NO_TOKENS, sumOf, type ModelPrice, type TokenClasses } from '../protocol/price.ts';
import { afterCounted, type AfterCountedDeps } from '../quota/ceiling-exceeded.ts';
import type { QuotaDay } from '../quota/calendar.ts';
import {
  chargeOf,
  picoOf,
  picoOfTime,
  sharedAccounts,
  type Basis,
  type CallUsage,
  type CallUsageAnswer,
  type Ledger,
  type UsageTotals,
} from '../stores/ledger/contract.ts';
import { BurnRate, Gaps, type Gap } from './gaps.ts';
import type { MeteredCall, Metering, MeteringListener, UsageEvent } from './contract.ts';
import { isCountable, minimumMs, priceTokens, type PricedModel, type Prices } from './prices.ts';
import { UsageQueue } from './usage-queue.ts';

/** Calls whose last minute is remembered; a node holds fewer. */
const MAX_BURN_RATES = 20_000;
/** Models without a price that were reported; limited because callers may name any model. */
const MAX_UNPRICED = 200;
/** Shortest and longest gap assumed for usage that cannot be read, or could not be kept. */
const MIN_UNREADABLE_MS = 1000;
const MAX_UNREADABLE_MS = MINUTE_MS;

/** Logs metered usage, and counts it in the metrics. */
export interface MeteringEvents {
  /** @param model as the lists name it; `unpriced` for a model that no list has */
  usageMetered(model: string, basis: Basis | 'estimated', tokens: number, microDollars: number): void;
  usageUnreadable(callId: string): void;
  /** An entry could not be kept while the database was away: it becomes a gap. */
  usageLost(callId: string): void;
  modelUnpriced(model: string): void;
}

export interface MeteringDeps extends AfterCountedDeps {
  readonly ledger: Pick<Ledger, 'recordCall'>;
  readonly prices: Prices;
  readonly calendar: (atMs: number) => QuotaDay;
  readonly events: MeteringEvents;
  /** Hears of faults in background work. */
  readonly onError: (error: unknown) => void;
  readonly listener?: MeteringListener;
}

/** The fields of an entry that do not come from its call. */
type Part = Pick<CallUsage, 'key' | 'basis'> &
  Partial<Pick<CallUsage, 'tokens' | 'picoDollars' | 'isEstimated' | 'gapMs' | 'total'>>;

/**
 * The meter of calls (docs/contract.md, section 5.12). It writes to the ledger, and ends sessions that usage carries over a ceiling. Usage of one
 * call is counted in the order in which it was heard; what the database cannot take yet waits, within bounds.
 */
export class CallMetering implements Metering {
  readonly #deps: MeteringDeps;
  readonly #queue: UsageQueue;
  readonly #burnRates = new Lru<BurnRate>(MAX_BURN_RATES);
  readonly #gaps = new Lru<Gaps>(MAX_BURN_RATES);
  readonly #unpriced = new Lru<string>(MAX_UNPRICED);

  constructor(deps: MeteringDeps) {
    this.#deps = deps;
    this.#queue = new UsageQueue({
      count: async (call, usage) => void (await this.#count(call, usage)),
      onFault: deps.onError,
      onLost: (callId) => deps.events.usageLost(callId),
      gapOf: (call, fromMs, untilMs) => this.#gapsOf(call, { fromMs: fromMs - MIN_UNREADABLE_MS, untilMs }),
    });
  }

  get waitingSinceMs(): number | undefined {
    return this.#queue.waitingSinceMs;
  }

  /** Entries that are waiting for the database, or on their way to it. */
  get waiting(): number {
    return this.#queue.size;
  }

  uncounted(callId: string): UsageTotals {
    const waiting = this.#queue.waitingOf(callId);
    return {
      tokens: waiting.reduce((sum, { tokens }) => sum + sumOf(tokens), 0),
      microDollars: chargeOf(waiting.reduce((sum, { picoDollars }) => sum + picoDollars, 0n)),
    };
  }

  begin(call: MeteredCall, atMs: number): void {
    const ms = minimumMs(this.#priceOf(call, call.model).price);
    // Counted as a total, so that the call's connected time adds cost only beyond the minimum.
    if (ms > 0) this.hear(call, { type: 'usageTotal', ms }, atMs);
  }

  hear(call: MeteredCall, event: UsageEvent, atMs: number): void {
    const burnRate = this.#burnRateOf(call, atMs);
    const part = this.#partOf(call, event, burnRate, atMs);
    if (part === undefined) return this.#noteUnreadable(call, burnRate, atMs);
    this.#queue.push(call, this.#usageOf(call, modelOf(call, event), part, atMs));
  }

  gap(call: MeteredCall, fromMs: number, untilMs: number): void {
    for (const usage of this.#gapsOf(call, { fromMs, untilMs })) this.#queue.push(call, usage);
  }

  report(call: MeteredCall, responseId: string, tokens: TokenClasses, atMs: number): Promise<CallUsageAnswer> {
    const picoDollars = this.#priceTokens(call, call.model, tokens);
    const part = { key: responseId, basis: 'reported', tokens, picoDollars } as const;
    return this.#count(call, this.#usageOf(call, call.model, part, atMs));
  }

  flushCall(callId: string): Promise<void> {
    return this.#queue.flushCall(callId);
  }

  flush(): Promise<void> {
    return this.#queue.flush();
  }

  #partOf(call: MeteredCall, event: UsageEvent, burnRate: BurnRate, atMs: number): Part | undefined {
    const { type } = event;
    if (type === 'usage' && isCountable(event.tokens)) {
      const picoDollars = this.#priceTokens(call, modelOf(call, event), event.tokens);
      burnRate.add(atMs, picoDollars);
      return { key: event.key, basis: 'events', tokens: event.tokens, picoDollars };
    }
    if (type === 'usageTime' && isTime(event.ms)) {
      const picoDollars = picoOfTime(Math.ceil(event.ms), this.#perMinute(call, modelOf(call, event)));
      burnRate.add(atMs, picoDollars);
      return { key: event.key, basis: 'events', picoDollars };
    }
    if (type === 'usageTotal' && isTime(event.ms)) {
      const ms = Math.ceil(event.ms);
      return { key: `total:${ms}`, basis: 'clock', total: { ms, perMinute: this.#perMinute(call, call.model) } };
    }
    if (type === 'usageTool')
      return { key: `tool:${event.key}`, basis: 'tool', picoDollars: picoOf(event.microDollars) };
    if (type === 'usageEstimated') {
      const picoDollars = this.#priceTokens(call, call.model, event.tokens);
      return { key: event.key, basis: 'events', isEstimated: true, tokens: event.tokens, picoDollars };
    }
    return undefined;
  }

  /** Usage that cannot be read becomes a gap that began when usage was last heard. */
  #noteUnreadable(call: MeteredCall, burnRate: BurnRate, atMs: number): void {
    this.#deps.events.usageUnreadable(call.callId);
    const gapMs = Math.min(MAX_UNREADABLE_MS, Math.max(MIN_UNREADABLE_MS, atMs - burnRate.lastMs));
    this.gap(call, atMs - gapMs, atMs);
  }

  /** The parts of a gap that were in no earlier gap of the call. A call that is billed by time has none: its next total covers the interval. */
  #gapsOf(call: MeteredCall, gap: Gap): readonly CallUsage[] {
    const { price } = this.#priceOf(call, call.model);
    if (price.perMinute !== undefined) return [];
    const burnRate = this.#burnRateOf(call, gap.untilMs);
    const gaps = this.#gaps.get(call.callId) ?? new Gaps();
    this.#gaps.set(call.callId, gaps);
    return gaps
      .add(gap)
      .map((fresh) => this.#usageOf(call, call.model, gapPart(fresh, burnRate, price), fresh.untilMs));
  }

  #usageOf(call: MeteredCall, model: string, part: Part, atMs: number): CallUsage {
    const { callId, sessionId, subject, tenantId, keyId } = call;
    return {
      callId,
      sessionId,
      subject,
      tenantId,
      model,
      atMs,
      ...sharedAccounts(tenantId, keyId),
      day: this.#deps.calendar(atMs).day,
      priceVersion: this.#priceOf(call, model).version,
      tokens: NO_TOKENS,
      picoDollars: 0n,
      isEstimated: false,
      gapMs: 0,
      total: null,
      ...part,
    };
  }

  async #count(call: MeteredCall, usage: CallUsage): Promise<CallUsageAnswer> {
    const answer = await this.#deps.ledger.recordCall(usage);
    const { kind, added } = answer;
    if (kind === 'counted') this.#tell(call, usage, answer);
    try {
      const { atMs, day } = usage;
      await afterCounted(call, { ...answer, day, added: kind === 'counted' ? added : null, atMs }, this.#deps);
      await this.#deps.listener?.counted(call, usage, answer);
    } catch (error) {
      // The usage is counted; the next entry or create ends the sessions that it carried over a ceiling.
      this.#deps.onError(error);
    }
    return answer;
  }

  #tell(call: MeteredCall, { model, basis, isEstimated }: CallUsage, { added }: CallUsageAnswer): void {
    const name = this.#priceOf(call, model).listedAs ?? 'unpriced';
    this.#deps.events.usageMetered(name, isEstimated ? 'estimated' : basis, added.tokens, added.microDollars);
  }

  #priceTokens(call: MeteredCall, model: string, tokens: TokenClasses): bigint {
    return priceTokens(tokens, this.#priceOf(call, model).price, this.#deps.prices.dearest);
  }

  #perMinute(call: MeteredCall, model: string): number {
    return this.#priceOf(call, model).price.perMinute ?? this.#deps.prices.dearest.perMinute ?? 0;
  }

  #priceOf(call: MeteredCall, model: string): PricedModel {
    const priced = this.#deps.prices.priceOf(model, model === call.model ? call.price : null);
    if (priced.listedAs === null && this.#unpriced.get(model) === undefined) {
      this.#unpriced.set(model, model);
      this.#deps.events.modelUnpriced(model);
    }
    return priced;
  }

  #burnRateOf({ callId }: MeteredCall, atMs: number): BurnRate {
    const known = this.#burnRates.get(callId);
    if (known !== undefined) return known;
    const burnRate = new BurnRate(atMs);
    this.#burnRates.set(callId, burnRate);
    return burnRate;
  }
}

function modelOf(call: MeteredCall, event: UsageEvent): string {
  return ('model' in event ? event.model : undefined) ?? call.model;
}

function isTime(ms: number): boolean {
  return Number.isSafeInteger(Math.ceil(ms)) && ms >= 0;
}

/** An estimate counts until clients' reports exceed it. */
function gapPart({ fromMs, untilMs }: Gap, burnRate: BurnRate, { estimatePerMinute }: ModelPrice): Part {
  const gapMs = untilMs - fromMs;
  const picoDollars = burnRate.expect(fromMs, gapMs, estimatePerMinute);
  return { key: `gap:${fromMs}`, basis: 'events', isEstimated: true, gapMs, picoDollars };
}
