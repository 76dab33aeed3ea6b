import { readFileSync } from 'node:fs';

const STEP_MS = 50;
const PRESSURE = '/proc/pressure/cpu';

interface Stall {
  readonly at: number;
  readonly ms: number;
}

/** Records how long this machine kept processes waiting, so that no server is blamed for that. */
export class Stalls {
  readonly #stalls: Stall[] = [];
  readonly #timer: NodeJS.Timeout;
  #lastAt = Date.now();
  #lastWaited = waitedMs();

  constructor() {
    this.#timer = setInterval(() => this.#look(), STEP_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Milliseconds lost between two moments. */
  between(from: number, to: number): number {
    return this.#stalls.reduce((sum, { at, ms }) => (at >= from && at - STEP_MS <= to ? sum + ms : sum), 0);
  }

  /** The share of the time that was lost. */
  get share(): number {
    const span = (this.#stalls.at(-1)?.at ?? 1) - (this.#stalls[0]?.at ?? 0);
    return this.between(0, Infinity) / span;
  }

  #look(): void {
    const now = Date.now();
    const waited = waitedMs();
    // Linux reports for how long some process waited for a processor; elsewhere the delay of our own timer has to do.
    const ms = Math.max(waited - this.#lastWaited, now - this.#lastAt - 2 * STEP_MS);
    if (ms > 0) this.#stalls.push({ at: now, ms: Math.min(ms, now - this.#lastAt) });
    this.#lastAt = now;
    this.#lastWaited = waited;
  }
}

function waitedMs(): number {
  try {
    return Number(/^some .*total=(\d+)/.exec(readFileSync(PRESSURE, 'utf8'))?.[1] ?? 0) / 1000;
  } catch {
    return 0;
  }
}
