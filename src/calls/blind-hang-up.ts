import type { Ending, EndingListener, HangUps, HangupAnswer } from './hang-ups.ts';

/** Between two tries. */
const TRY_MS = 1000;
/** A provider that has begun to end a call is asked once more, as ever; one that knows it no more is not. */
const ENOUGH = 2;

/** Hangs a call up whose end cannot be saved, because the database is away: no more often than it takes. */
export class BlindHangUp {
  readonly #hangUps: HangUps;
  #asked = 0;
  #tryAtMs = -Infinity;

  constructor(hangUps: HangUps) {
    this.#hangUps = hangUps;
  }

  try(call: Ending, listener: EndingListener, at: number): void {
    if (this.#asked >= ENOUGH || at < this.#tryAtMs) return;
    this.#tryAtMs = at + TRY_MS;
    this.#hangUps.start(call, listener, (answer) => this.#note(answer));
  }

  #note(answer: HangupAnswer): void {
    if (answer === 'already_over') this.#asked = ENOUGH;
    if (answer === 'asked') this.#asked += 1;
  }
}
