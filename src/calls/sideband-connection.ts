import type { HeldCallEvent } from '../../machines/held-call/types.ts';
import type { Clock } from '../kernel/clock.ts';
import { CallOver, type Sideband } from '../upstream/contract.ts';

export interface SidebandConnectionDeps {
  readonly attach: (signal: AbortSignal) => Promise<Sideband>;
  /** Whether the call still waits for what is dialled. */
  readonly isAwaited: () => boolean;
  /** Whether the provider is being asked to end the call. */
  readonly isHangUpUnderWay: () => boolean;
  readonly send: (event: HeldCallEvent) => void;
  readonly clock: Clock;
  /** From 0 to 1. */
  readonly random: () => number;
}

/** The connection on which one call is heard, at most one at a time: it is dialled when the call's machine says so, which is told of all that becomes of it. */
export class SidebandConnection {
  readonly #deps: SidebandConnectionDeps;
  #sideband: Sideband | undefined;

  constructor(deps: SidebandConnectionDeps) {
    this.#deps = deps;
  }

  /** Undefined while nobody hears the call. */
  get sideband(): Sideband | undefined {
    return this.#sideband;
  }

  /** Attaches to the call. @param isFirst before it is open @throws what the provider's `attach` throws */
  async dial(signal: AbortSignal, isFirst: boolean): Promise<void> {
    const { attach, isAwaited, send, clock, random } = this.#deps;
    if (isFirst) send({ type: 'DIAL', at: clock.now() });
    try {
      const sideband = await attach(signal);
      if (!isAwaited()) return sideband.close();
      this.#sideband = sideband;
      send({ type: 'ATTACHED', at: clock.now() });
      void sideband.closed.then((end) => this.#lost(sideband, end === 'left'));
    } catch (fault) {
      const isOver = !isFirst && fault instanceof CallOver;
      send({ type: 'DIAL_FAILED', at: clock.now(), isOver, jitter: random() });
      throw fault;
    }
  }

  close(): void {
    this.#sideband?.close();
    this.#sideband = undefined;
  }

  #lost(sideband: Sideband, isLeft: boolean): void {
    if (this.#sideband !== sideband) return;
    this.#sideband = undefined;
    const { isHangUpUnderWay, send, clock, random } = this.#deps;
    const at = clock.now();
    send({ type: 'SIDEBAND_LOST', at, isLeft, isHangUpUnderWay: isHangUpUnderWay(), jitter: random() });
  }
}
