import { MINUTE_MS } from '../kernel/time.ts';
import { picoOfTime } from '../stores/ledger/contract.ts';

/** An interval of time, from an instant on and until another, which is not part of it. */
export interface Gap {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** How many intervals are kept apart; beyond that the oldest are forgotten. */
const MAX_GAPS = 1000;

/** The gaps of one call, each of whose instants is charged once, however often and by whatever it is told. */
export class Gaps {
  /** Apart from each other, in order. */
  #charged: readonly Gap[] = [];

  /** @returns what of the gap was in none before, in order */
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

const WINDOW_MS = MINUTE_MS;

interface Spent {
  readonly atMs: number;
  readonly picoDollars: bigint;
}

/** What a call has cost in its last minute, as this node heard it. */
export class Burn {
  readonly #sinceMs: number;
  #lastMs: number;
  #spent: Spent[] = [];

  /** @param sinceMs from when on this node hears the call */
  constructor(sinceMs: number) {
    this.#sinceMs = sinceMs;
    this.#lastMs = sinceMs;
  }

  /** When usage was heard last; when none was, since when it would have been. */
  get lastMs(): number {
    return this.#lastMs;
  }

  note(atMs: number, picoDollars: bigint): void {
    this.#spent = this.#spent.filter((each) => each.atMs > atMs - WINDOW_MS);
    this.#spent.push({ atMs, picoDollars });
    this.#lastMs = Math.max(this.#lastMs, atMs);
  }

  /**
   * What a gap is expected to have cost, in millionths of a micro-dollar: as much as the minute before it, where that was heard whole and
   * cost anything, else the model's expected price.
   */
  expect(fromMs: number, gapMs: number, estimatePerMinute: number): bigint {
    const spent = this.#spent.filter(({ atMs }) => atMs > fromMs - WINDOW_MS && atMs <= fromMs);
    const sum = spent.reduce((total, { picoDollars }) => total + picoDollars, 0n);
    if (sum === 0n || this.#sinceMs > fromMs - WINDOW_MS) return picoOfTime(gapMs, estimatePerMinute);
    const window = BigInt(WINDOW_MS);
    return (sum * BigInt(gapMs) + window - 1n) / window;
  }
}
