import { tryDelayMs } from '../../machines/voice-call/selectors.ts';
import type { HangUpTarget, HangUpListener, HangUps } from './hang-ups.ts';

/** Until a try is answered, or where it could not even begin. */
const TRY_MS = 1000;

/** Hangs a call up whose end cannot be saved, because the database is away: no more often than it takes. */
export class UnsavedHangUp {
  readonly #hangUps: HangUps;
  #tries = 0;
  /** The provider has begun to end the call. */
  #isAsked = false;
  #doneAtMs: number | undefined;
  #tryAtMs = -Infinity;

  constructor(hangUps: HangUps) {
    this.#hangUps = hangUps;
  }

  /** When the call was over. */
  get doneAtMs(): number | undefined {
    return this.#doneAtMs;
  }

  try(call: HangUpTarget, listener: HangUpListener, at: number): void {
    if (this.#doneAtMs !== undefined || at < this.#tryAtMs) return;
    this.#tryAtMs = at + TRY_MS;
    this.#hangUps.start(call, listener, ({ answer }) => {
      this.#tries += 1;
      this.#tryAtMs = at + tryDelayMs(this.#tries);
      // Only a provider that has begun to end the call is believed when it says that it knows the call no more.
      if (answer !== 'failed' && this.#isAsked) this.#doneAtMs = at;
      if (answer === 'asked') this.#isAsked = true;
    });
  }
}
