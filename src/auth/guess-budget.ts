import { DAY_MS, HOUR_MS } from '../kernel/time.ts';
import { FOREVER_MS, type TakenCount, type Counters } from '../stores/counters/contract.ts';
import { DEVICE_LIFE_MS, type Device } from './device-cookie.ts';
import { DomainBudget } from './domain-budget.ts';
import { countQuietly, UNLIMITED } from './quiet-count.ts';
import type { Subjects } from './subjects.ts';

/** Wrong codes in a row, whatever the time between them (NIST SP 800-63B, section 5.2.2). */
export const MAX_FAILURES_IN_ROW = 100;

/** Whose budget had nothing left for a guess. */
export type GuessSpender = 'address' | 'device' | 'guesses_domain' | 'guesses_installation';

/** Who guesses, and at what. */
export interface Guess {
  readonly subject: string;
  /** The address where it may log in and has a code; undefined where there is nothing to guess. */
  readonly email: string | undefined;
  /** Whether there is a code, of an address that may log in or not. */
  readonly hasCode: boolean;
  /** The device cookie. */
  readonly device: Device | undefined;
  readonly isCountedInRow: boolean;
  /** What its domain and the installation have used up does not hold for it. */
  readonly isLifted: boolean;
}

export interface GuessTaken {
  readonly allowed: boolean;
  readonly spent: GuessSpender | undefined;
  /** All that was counted. */
  readonly counts: readonly TakenCount[];
}

interface GuessBudgetOptions {
  /** Guesses an hour at an address. */
  readonly perHour: number;
  /** Wrong codes a day at all addresses of a domain (MAX_OTP_FAILURES_PER_DAY). */
  readonly perDomain: number;
}

/**
 * How many wrong codes may be tried: at an address by the hour and in a row, at a domain and the whole installation by the day (UTC),
 * and by a browser that logged in before out of a budget of its own, so that no stranger shuts it out. Each guess is counted before it
 * is evaluated, exact over all nodes, and given back where it was not evaluated or right. @throws Unavailable when the database is away
 */
export class GuessBudget {
  readonly #counters: Counters;
  readonly #perHour: number;
  readonly #byDay: DomainBudget;

  constructor(counters: Counters, subjects: Pick<Subjects, 'domain'>, { perHour, perDomain }: GuessBudgetOptions) {
    this.#counters = counters;
    this.#perHour = perHour;
    this.#byDay = new DomainBudget(counters, subjects, { name: 'otp-failed', perDomain, windowMs: DAY_MS });
  }

  /** Whether a device cookie has guesses left; without any its browser is one like all others. */
  async hasLeft(device: Device): Promise<boolean> {
    return (await this.#counters.read(deviceKey(device), DEVICE_LIFE_MS, device.untilMs)) < MAX_FAILURES_IN_ROW;
  }

  /** Counts a guess, for as many questions whether or not there is something to guess. */
  async take({ subject, email, hasCode, device, ...guess }: Guess, atMs: number): Promise<GuessTaken> {
    const hourKey = `otp-verify:${subject}${device === undefined ? '' : ':known'}`;
    const ofHour = await this.#take(hasCode ? hourKey : undefined, subject, this.#perHour, HOUR_MS, atMs);
    const isOpen = email !== undefined && ofHour.allowed;
    const ownKey = device !== undefined ? deviceKey(device) : guess.isCountedInRow ? rowKey(subject) : undefined;
    // A cookie counts in the one window in which it ends: a window of the present would give it a second budget in the middle of its life.
    const [windowMs, inMs] = device === undefined ? [FOREVER_MS, atMs] : [DEVICE_LIFE_MS, device.untilMs];
    const own = await this.#take(isOpen ? ownKey : undefined, subject, MAX_FAILURES_IN_ROW, windowMs, inMs);
    const isOfDomain = isOpen && own.allowed && device === undefined && !guess.isLifted;
    const byDay = await this.#byDay.take(isOfDomain ? email : undefined, atMs);
    const spent = own.allowed
      ? byDay.spent && (`guesses_${byDay.spent}` as const)
      : device === undefined
        ? 'address'
        : 'device';
    return {
      allowed: isOpen && spent === undefined,
      spent,
      counts: [...ofHour.counts, ...own.counts, ...byDay.counts],
    };
  }

  /** The guess was not evaluated. One question in any case, so that time does not tell whether anything was counted. */
  async giveBack({ counts }: GuessTaken, subject: string, atMs: number): Promise<void> {
    if (counts.length > 0) await this.#counters.giveBack(counts);
    else await this.#take(undefined, subject, UNLIMITED, HOUR_MS, atMs);
  }

  /** The guess was right, and so no failure. */
  async succeeded({ counts }: GuessTaken): Promise<void> {
    await this.#counters.giveBack(counts.filter(({ key }) => !key.startsWith('otp-verify:')));
  }

  #take(key: string | undefined, subject: string, limit: number, ofMs: number, atMs: number) {
    // What counts nothing is not kept for as long as what counts a row.
    const windowMs = key === undefined ? HOUR_MS : ofMs;
    return countQuietly(this.#counters, { key, idleKey: `otp-idle:${subject}`, limit, windowMs }, atMs);
  }
}

/** Under what the wrong codes in a row of an address are counted. */
export function rowKey(subject: string): string {
  return `otp-row:${subject}`;
}

function deviceKey({ id }: Device): string {
  return `otp-device:${id}`;
}
