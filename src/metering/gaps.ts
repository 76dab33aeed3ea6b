import { MINUTE_MS } from '../kernel/time.ts';
import { picoOfTime } from '../stores/ledger/contract.ts';

/** A time interval; its end is not part of it. */
export interface Gap {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Intervals that are kept apart; beyond that the oldest are forgotten. */
const MAX_GAPS = 1000;

/**
 * The gaps of one call: times in which no node heard it. When a gap ends its call: `unheardEndMs` in machines/voice-call/selectors.ts.
 * Each instant is charged once, however often it is reported and by whatever.
 */
export class Gaps {
  /** Disjoint, in order. */
  #charged: readonly Gap[] = [];

  /** @returns the parts of the gap that were in no earlier one, in order */
  add({ fromMs, untilMs }: Gap): readonly Gap[] {
    if (untilMs <= fromMs) return [];
    const touches = (each: Gap): boolean => each.fromMs <= untilMs && each.untilMs >= fromMs;
    const touched = this.#charged.filter(touches);
    const fresh: Gap[] = [];
    let next = fromMs;
    for (const each of touched) {
      if (each.fromMs > next) fresh.push({ fromMs: next, untilMs: each.fromMs });
      next = Math.max(next, each.untilMs);
    }
    if (untilMs > next) fresh.push({ fromMs: next, untilMs });
    const merged = {
      fromMs: Math.min(fromMs, ...touched.map((each) => each.fromMs)),
      untilMs: Math.max(untilMs, ...touched.map((each) => each.untilMs)),
    };
    const others = this.#charged.filter((each) => !touches(each));
    this.#charged = [...others, merged].toSorted((a, b) => a.fromMs - b.fromMs).slice(-MAX_GAPS);
    return fresh;
  }
}

/** A gap is priced by what the call cost in the time before it. */
const WINDOW_MS = MINUTE_MS;

interface Cost {
  readonly atMs: number;
  readonly picoDollars: bigint;
}

/** What a call has cost in its last minute, as far as this node heard it. */
export class BurnRate {
  readonly #sinceMs: number;
  #lastMs: number;
  #spent: Cost[] = [];

  /** @param sinceMs when this node began to hear the call */
  constructor(sinceMs: number) {
    this.#sinceMs = sinceMs;
    this.#lastMs = sinceMs;
  }

  /** When usage was last heard; until then, when this node began to hear the call. */
  get lastMs(): number {
    return this.#lastMs;
  }

  add(atMs: number, picoDollars: bigint): void {
    this.#spent = this.#spent.filter((each) => each.atMs > atMs - WINDOW_MS);
    this.#spent.push({ atMs, picoDollars });
    this.#lastMs = Math.max(this.#lastMs, atMs);
  }

  /**
   * The expected cost of a gap, in millionths of a micro-dollar: as much as the minute before it, if this node heard all of that minute and it cost
   * anything; otherwise by the model's expected price.
   */
  expect(fromMs: number, gapMs: number, estimatePerMinute: number): bigint {
    const spent = this.#spent.filter(({ atMs }) => atMs > fromMs - WINDOW_MS && atMs <= fromMs);
    const sum = spent.reduce((total, { picoDollars }) => total + picoDollars, 0n);
    if (sum === 0n || this.#sinceMs > fromMs - WINDOW_MS) return picoOfTime(gapMs, estimatePerMinute);
    const window = BigInt(WINDOW_MS);
    return (sum * BigInt(gapMs) + window - 1n) / window;
  }
}
