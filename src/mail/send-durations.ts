const REMEMBERED = 32;

/** How long recent sends took, so that a mail that is not sent keeps its connection for as long. */
export class SendDurations {
  readonly #durationsMs: number[] = [];
  readonly #random: () => number;
  #next = 0;

  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  record(durationMs: number): void {
    this.#durationsMs[this.#next] = durationMs;
    this.#next = (this.#next + 1) % REMEMBERED;
  }

  /**
   * Milliseconds that a send might take now: one of the recent durations, drawn at random, because a fixed average would stand
   * out from the real spread. 0 before the first send.
   */
  draw(): number {
    return this.#durationsMs[Math.floor(this.#random() * this.#durationsMs.length)] ?? 0;
  }
}
