import type { Responses } from '../../machines/held-call/types.ts';
import type { Sideband } from '../upstream/contract.ts';

/** Waits for the responses of one held call. */
export class Quiet {
  readonly #responses: () => Responses;
  readonly #sideband: () => Sideband | undefined;
  #noted: () => void = () => undefined;

  /** @param sideband undefined while nobody hears the call */
  constructor(responses: () => Responses, sideband: () => Sideband | undefined) {
    this.#responses = responses;
    this.#sideband = sideband;
  }

  /** No response runs any more; call it each time. */
  note(): void {
    this.#noted();
  }

  /** Resolves once the responses are so, or when nobody hears the call. Only the last caller is told. */
  async until(isSo: (responses: Responses) => boolean): Promise<void> {
    const sideband = this.#sideband();
    if (sideband === undefined || isSo(this.#responses())) return;
    const quiet = new Promise<void>((resolve) => {
      this.#noted = () => isSo(this.#responses()) && resolve();
    });
    await Promise.race([quiet, sideband.closed]);
  }
}
