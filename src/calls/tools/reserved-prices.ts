import type { HeldCallDeps } from '../deps.ts';

type ReservedPricesDeps = Pick<HeldCallDeps, 'budgets' | 'metering'>;

/** The prices of the tools that are running in one held call, so that many asked for at once cannot pass a ceiling together. */
export class ReservedPrices {
  readonly #callId: string;
  readonly #deps: ReservedPricesDeps;
  /** By the provider's ids of the tool calls. */
  readonly #reserved = new Map<string, number>();

  constructor(callId: string, deps: ReservedPricesDeps) {
    this.#callId = callId;
    this.#deps = deps;
  }

  /** @returns false where some budget cannot pay for it beside everything that is running */
  reserve(toolCallId: string, price: number): boolean {
    if (price === 0) return true;
    const { budgets, metering } = this.#deps;
    const { tokens, microDollars } = metering.uncounted(this.#callId);
    const running = [...this.#reserved.values()].reduce((sum, each) => sum + each, 0);
    if (!budgets.affords(this.#callId, [], { tokens, microDollars: microDollars + running + price })) return false;
    this.#reserved.set(toolCallId, price);
    return true;
  }

  /** The tool call is charged, or costs nothing. */
  release(toolCallId: string): void {
    this.#reserved.delete(toolCallId);
  }
}
