import { isQuiet } from '../../machines/held-call/responses.ts';
import type { Responses } from '../../machines/held-call/types.ts';
import { isAwaited } from '../../machines/held-call/wanted-response.ts';
import type { Sideband } from '../upstream/contract.ts';

/** What is known of the responses, and the sideband; undefined while nobody hears the call. */
type Present = readonly [responses: Responses, sideband: Sideband | undefined];

/** Waits for the responses of one held call. Each wait ends when nobody hears the call, and only the last one is told of more than that. */
export class ResponseWaits {
  readonly #present: () => Present;
  #noted: () => void = () => undefined;

  constructor(present: () => Present) {
    this.#present = present;
  }

  /** No response runs any more; call it each time. */
  note(): void {
    this.#noted();
  }

  /** Resolves once no response runs. */
  ended(): Promise<void> {
    return this.#until(isQuiet);
  }

  /** Resolves once no response runs and none is still to begin. */
  saidAll(): Promise<void> {
    return this.#until((responses) => isQuiet(responses) && !isAwaited(responses));
  }

  async #until(isSo: (responses: Responses) => boolean): Promise<void> {
    const isNow = (): boolean => isSo(this.#present()[0]);
    const [, sideband] = this.#present();
    if (sideband === undefined || isNow()) return;
    const quiet = new Promise<void>((resolve) => {
      this.#noted = () => isNow() && resolve();
    });
    await Promise.race([quiet, sideband.closed]);
  }
}
