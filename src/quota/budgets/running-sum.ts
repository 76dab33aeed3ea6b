import type { Eventually } from '../../kernel/eventually.ts';
import { HOUR_MS } from '../../kernel/time.ts';

/** The start of the last two hours, the present one included. */
export function lastHoursMs(atMs: number): number {
  return atMs - (atMs % HOUR_MS) - HOUR_MS;
}

/**
 * A sum until now. Its base, up to a cut, hardly changes and is read only when the cut has moved; what came since the cut is read whenever the sum is
 * not fresh.
 */
export class RunningSum<T> {
  /** What came before the cut. */
  base: T;
  /** What came since the cut. Who adds to the sum adds to this, until the next read. */
  recent: T;
  readonly #nothing: T;
  readonly #read: (fromMs: number, untilMs: number | undefined, atMs: number) => Promise<T>;
  #cutMs = NaN;
  #readAtMs = -Infinity;
  #reading: Promise<void> | undefined;

  /** @param read adds up what came from an instant on, until another or until now (`atMs`) @throws Unavailable */
  constructor(nothing: T, read: (fromMs: number, untilMs: number | undefined, atMs: number) => Promise<T>) {
    this.base = nothing;
    this.recent = nothing;
    this.#nothing = nothing;
    this.#read = read;
  }

  /** This sum, not older than `freshMs`. @throws Unavailable when the database is away */
  upTo(atMs: number, freshMs: number, fromMs: number, cutMs: number): Eventually<this> {
    if (atMs - this.#readAtMs < freshMs) return this;
    return (this.#reading ??= this.#readAgain(atMs, fromMs, cutMs)).then(() => this);
  }

  /** Forces the next read. */
  doubt(): void {
    this.#readAtMs = -Infinity;
  }

  async #readAgain(atMs: number, fromMs: number, cutMs: number): Promise<void> {
    try {
      let { base } = this;
      if (cutMs !== this.#cutMs) base = cutMs === fromMs ? this.#nothing : await this.#read(fromMs, cutMs, atMs);
      const recent = await this.#read(cutMs, undefined, atMs);
      Object.assign(this, { base, recent });
      this.#cutMs = cutMs;
      this.#readAtMs = atMs;
    } finally {
      this.#reading = undefined;
    }
  }
}
