import type { Bus } from '../stores/bus/contract.ts';

/** Shortest time between two looks: while the bus is away, all sessions of this node are looked up every few seconds. */
const LOOK_MS = 2000;
/** A tick that comes this many milliseconds after the last one shows that the process was suspended. */
const STALLED_MS = 3000;

/**
 * Knows when this node may have missed what the bus said, and has its sessions looked up: after a gap, while it is cut off, and after it was
 * suspended.
 */
export class Resync {
  readonly #bus: Pick<Bus, 'isConnected'>;
  readonly #look: () => Promise<boolean>;
  readonly #onError: (error: unknown) => void;
  readonly #stopListening: () => void;
  #isDue = false;
  #isLooking = false;
  #tickedAtMs: number;
  #lookedAtMs = -Infinity;

  /** @param look tells the sockets what became of their sessions; false when it could not find out everything */
  constructor(
    bus: Pick<Bus, 'isConnected' | 'onGap'>,
    atMs: number,
    look: () => Promise<boolean>,
    onError: (error: unknown) => void,
  ) {
    this.#bus = bus;
    this.#tickedAtMs = atMs;
    this.#look = look;
    this.#onError = onError;
    this.#stopListening = bus.onGap(() => {
      this.#isDue = true;
    });
  }

  /** Call it about every second. */
  tick(at: number): void {
    const stoodStill = Math.abs(at - this.#tickedAtMs) > STALLED_MS;
    this.#tickedAtMs = at;
    if (stoodStill || !this.#bus.isConnected) this.#isDue = true;
    if (!this.#isDue || this.#isLooking || Math.abs(at - this.#lookedAtMs) < LOOK_MS) return;
    this.#isDue = false;
    this.#lookedAtMs = at;
    void this.#run();
  }

  close(): void {
    this.#stopListening();
  }

  async #run(): Promise<void> {
    this.#isLooking = true;
    try {
      if (!(await this.#look())) this.#isDue = true;
    } catch (error) {
      this.#isDue = true;
      this.#onError(error);
    }
    this.#isLooking = false;
  }
}
