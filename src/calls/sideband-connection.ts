import type { Clock } from '../kernel/clock.ts';
import type { Sideband, SidebandEnd } from '../upstream/contract.ts';

const FIRST_DELAY_MS = 100;
const LAST_DELAY_MS = 2000;

export interface SidebandConnectionDeps {
  readonly attach: (signal: AbortSignal) => Promise<Sideband>;
  /** There is a sideband. */
  readonly attached: () => void;
  readonly clock: Clock;
  /** From 0 to 1. */
  readonly random: () => number;
  /** The sideband is lost, and dialled again from the next `isDue` on. @param isDropped by us, not by the provider */
  readonly lost: (isDropped: boolean) => void;
}

/** The connection on which one call is heard: at most one sideband at a time, dialled again with growing pauses when it is lost. */
export class SidebandConnection {
  readonly #deps: SidebandConnectionDeps;
  #sideband: Sideband | undefined;
  #lostAtMs: number | undefined;
  #failures = 0;
  #dialAtMs = -Infinity;
  #isClosed = false;
  #isLeft = false;

  constructor(deps: SidebandConnectionDeps) {
    this.#deps = deps;
  }

  get sideband(): Sideband | undefined {
    return this.#sideband;
  }

  /** When the last sideband was lost. */
  get lostAtMs(): number | undefined {
    return this.#lostAtMs;
  }

  /** Whether the provider itself has closed the last sideband. */
  get isLeft(): boolean {
    return this.#isLeft;
  }

  /** Whether it is time to dial. */
  get isDue(): boolean {
    return !this.#isClosed && this.#sideband === undefined && this.#deps.clock.now() >= this.#dialAtMs;
  }

  /** Attaches to the call. @throws what the provider's `attach` throws */
  async dial(signal: AbortSignal): Promise<void> {
    // Not due again while this one is under way.
    this.#dialAtMs = Infinity;
    try {
      const sideband = await this.#deps.attach(signal);
      if (this.#isClosed) return sideband.close();
      this.#sideband = sideband;
      this.#failures = 0;
      this.#isLeft = false;
      this.#deps.attached();
      void sideband.closed.then((end) => this.#lost(sideband, false, end));
    } catch (fault) {
      this.#failures += 1;
      this.#pause();
      throw fault;
    }
  }

  /** Lets go of the sideband; it is dialled again. */
  drop(): void {
    const sideband = this.#sideband;
    if (sideband === undefined) return;
    sideband.close();
    this.#lost(sideband, true, 'lost');
  }

  /** For good. */
  close(): void {
    this.#isClosed = true;
    this.#sideband?.close();
    this.#sideband = undefined;
  }

  #lost(sideband: Sideband, isDropped: boolean, end: SidebandEnd): void {
    if (this.#sideband !== sideband) return;
    this.#isLeft = end === 'left';
    this.#sideband = undefined;
    this.#lostAtMs = this.#deps.clock.now();
    this.#pause();
    this.#deps.lost(isDropped);
  }

  /** 0.1 to 2 s, jittered: a provider that comes back is not met by all nodes at once. */
  #pause(): void {
    const { clock, random } = this.#deps;
    const longest = Math.min(LAST_DELAY_MS, FIRST_DELAY_MS * 2 ** (this.#failures + 1));
    this.#dialAtMs = clock.now() + Math.max(FIRST_DELAY_MS, random() * longest);
  }
}
