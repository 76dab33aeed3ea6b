import { DAY_MS, HOUR_MS } from '../kernel/time.ts';
import type { TakenCount, Counters } from '../stores/counters/contract.ts';
import { countsOf } from './constant-time-count.ts';

/** How many hours' worth of codes one network address may request per day before it counts as frequent. */
const USUAL_HOURS = 2;

/** A send that was counted, or refused. */
export interface SendTaken {
  readonly allowed: boolean;
  readonly retryAtMs: number;
  /** Whether its asker has requested more codes for this e-mail address today than people usually do. */
  readonly isFrequent: boolean;
  readonly counts: readonly TakenCount[];
}

/**
 * Limits codes per hour for each e-mail address (MAX_OTP_PER_HOUR). Anybody may request them, so anybody can use them up. But an asker
 * who has done so for two hours of a day leaves the last code of each further hour to other network addresses, and browsers that logged
 * in before have codes of their own. All e-mail addresses are treated alike, known or not. @throws Unavailable when the database is away
 */
export class CodeSendLimit {
  readonly #counters: Counters;
  readonly #perHour: number;

  constructor(counters: Counters, perHour: number) {
    this.#counters = counters;
    this.#perHour = perHour;
  }

  /** Counts a send requested by a stranger. A refused one is not counted. */
  async take(subject: string, asker: string, atMs: number): Promise<SendTaken> {
    const daily = `otp-asked:${subject}:${asker}`;
    const day = await this.#counters.take(daily, USUAL_HOURS * this.#perHour, DAY_MS, atMs);
    const limit = day.allowed ? this.#perHour : Math.max(1, this.#perHour - 1);
    const hour = await this.#takeHour(`otp-send:${subject}`, limit, atMs);
    const counts = [...countsOf(daily, day), ...hour.counts];
    if (!hour.allowed) await this.#counters.giveBack(counts);
    return { ...hour, isFrequent: !day.allowed, counts };
  }

  /** Counts a send requested by a browser that holds a device cookie for the address. */
  async takeOfKnown(subject: string, atMs: number): Promise<SendTaken> {
    return { ...(await this.#takeHour(`otp-send:${subject}:known`, this.#perHour, atMs)), isFrequent: false };
  }

  async #takeHour(key: string, limit: number, atMs: number) {
    const hour = await this.#counters.take(key, limit, HOUR_MS, atMs);
    return { allowed: hour.allowed, retryAtMs: hour.retryAtMs, counts: countsOf(key, hour) };
  }
}
