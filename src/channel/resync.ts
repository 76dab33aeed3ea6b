import type { Bus } from '../stores/bus/contract.ts';

/** At most so often: with the bus away, all sessions of this node are looked at every few seconds. */
const LOOK_MS = 2000;
/** A tick that comes so long after the last one, in milliseconds, tells that the process stood still. */
const STALLED_MS = 3000;

/**
 * Knows when this node may have missed what the bus said, and has its sessions looked at: after a gap, while it hears nothing, and after
 * it stood still.
 */
export class Resync {
  readonly #bus: Pick<Bus, 'isHearing'>;
  readonly #look: () => Promise<boolean>;
  readonly #onError: (error: unknown) => void;
  readonly #stopListening: () => void;
  #isOwed = false;
  #isLooking = false;
  #tickedAtMs: number;
  #lookedAtMs = -Infinity;

  /** @param look tells the sockets what became of their sessions; false when it could not find out everything */
  constructor(
    bus: Pick<Bus, 'isHearing' | 'onGap'>,
    atMs: number,
    look: () => Promise<boolean>,
    onError: (error: unknown) => void,
  ) {
    this.#bus = bus;
    this.#tickedAtMs = atMs;
    this.#look = look;
    this.#onError = onError;
    this.#stopListening = bus.onGap(() => {
      this.#isOwed = true;
    });
  }

  /** To be called about every second. */
  tick(at: number): void {
    const stoodStill = Math.abs(at - this.#tickedAtMs) > STALLED_MS;
    this.#tickedAtMs = at;
    if (stoodStill || !this.#bus.isHearing) this.#isOwed = true;
    if (!this.#isOwed || this.#isLooking || Math.abs(at - this.#lookedAtMs) < LOOK_MS) return;
    this.#isOwed = false;
    this.#lookedAtMs = at;
    void this.#run();
  }

  close(): void {
    this.#stopListening();
  }

  async #run(): Promise<void> {
    this.#isLooking = true;
    try {
      if (!(await this.#look())) this.#isOwed = true;
    } catch (error) {
      this.#isOwed = true;
      this.#onError(error);
    }
    this.#isLooking = false;
  }
}
