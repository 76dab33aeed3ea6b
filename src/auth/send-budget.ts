import type { Counters, CounterTake } from '../stores/counters/contract.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** So many hours' worth of codes one network address may ask for in a day like everybody. */
const USUAL_HOURS = 2;

/** A send that was counted, or refused. */
export interface SendTaken {
  readonly allowed: boolean;
  readonly retryAtMs: number;
  /** Its asker has asked for more codes of this e-mail address today than people do. */
  readonly isFrequent: boolean;
  readonly counts: readonly { readonly key: string; readonly windowStartMs: number }[];
}

/**
 * Codes an hour per e-mail address (MAX_OTP_PER_HOUR). Anybody may ask for them, so anybody can use them up; but whoever has done so
 * for two hours of a day leaves the last code of each further hour to other network addresses. All e-mail addresses are treated
 * alike, known or not. @throws Unavailable when the database is away
 */
export class SendBudget {
  readonly #counters: Counters;
  readonly #perHour: number;

  constructor(counters: Counters, perHour: number) {
    this.#counters = counters;
    this.#perHour = perHour;
  }

  /** Counts a send. A refused one is counted nowhere. */
  async take(subject: string, asker: string, atMs: number): Promise<SendTaken> {
    const daily = `otp-asked:${subject}:${asker}`;
    const hourly = `otp-send:${subject}`;
    const day = await this.#counters.take(daily, USUAL_HOURS * this.#perHour, DAY_MS, atMs);
    const limit = day.allowed ? this.#perHour : Math.max(1, this.#perHour - 1);
    const hour = await this.#counters.take(hourly, limit, HOUR_MS, atMs);
    const counts = [...counted(daily, day), ...counted(hourly, hour)];
    const taken = { allowed: hour.allowed, retryAtMs: hour.retryAtMs, isFrequent: !day.allowed, counts };
    if (!hour.allowed) await this.giveBack(taken);
    return taken;
  }

  async giveBack({ counts }: SendTaken): Promise<void> {
    for (const { key, windowStartMs } of counts) await this.#counters.giveBack(key, windowStartMs);
  }
}

function counted(key: string, { allowed, windowStartMs }: CounterTake) {
  return allowed ? [{ key, windowStartMs }] : [];
}
