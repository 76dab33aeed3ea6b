/** A time interval; its end is not part of it. */
export interface Gap {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Intervals that are kept apart; beyond that the oldest are forgotten. */
const MAX_GAPS = 1000;

/** The gaps of one call. Each instant is charged once, however often it is reported and by whatever. */
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
