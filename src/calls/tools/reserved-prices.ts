import type { Budgets, Metering } from '../../metering/contract.ts';

export interface ReservedPricesDeps {
  readonly budgets: Pick<Budgets, 'affords'>;
  readonly metering: Pick<Metering, 'uncounted'>;
}

/** What the tools will cost that run in one held call: many that are asked for at once pass no ceiling together. */
export class ReservedPrices {
  readonly #callId: string;
  readonly #deps: ReservedPricesDeps;
  /** By the names that the provider gave the calls of tools. */
  readonly #reserved = new Map<string, number>();

  constructor(callId: string, deps: ReservedPricesDeps) {
    this.#callId = callId;
    this.#deps = deps;
  }

  /** @returns false where what is left of some budget does not pay for it, beside all that runs */
  reserve(toolCallId: string, price: number): boolean {
    if (price === 0) return true;
    const { budgets, metering } = this.#deps;
    const { tokens, microDollars } = metering.uncounted(this.#callId);
    const running = [...this.#reserved.values()].reduce((sum, each) => sum + each, 0);
    if (!budgets.affords(this.#callId, [], { tokens, microDollars: microDollars + running + price })) return false;
    this.#reserved.set(toolCallId, price);
    return true;
  }

  /** It is charged, or costs nothing. */
  release(toolCallId: string): void {
    this.#reserved.delete(toolCallId);
  }
}
