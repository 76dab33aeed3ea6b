import { DAY_MS, HOUR_MS } from '../kernel/time.ts';
import { FOREVER_MS, type TakenCount, type Counters } from '../stores/counters/contract.ts';
import { DEVICE_LIFE_MS, type Device } from './device-cookie.ts';
import { DomainLimit } from './domain-limit.ts';
import { countInConstantTime, UNLIMITED } from './constant-time-count.ts';
import type { Subjects } from './subjects.ts';

/** Consecutive wrong codes, whatever the time between them (NIST SP 800-63B, section 5.2.2). */
export const MAX_FAILURES_IN_ROW = 100;

/** Whose limit had no guess left. */
export type GuessSpender = 'address' | 'device' | 'guesses_domain' | 'guesses_installation';

/** A guess: who makes it, and at which address. */
export interface Guess {
  readonly subject: string;
  /** The address, if it may log in and has a code; undefined where there is nothing to guess. */
  readonly email: string | undefined;
  /** Whether the address has a code, even if it may not log in. */
  readonly hasCode: boolean;
  /** Undefined for a browser that has not logged in with the address before. */
  readonly device: Device | undefined;
  /** Whether the address closes after too many wrong codes in a row; a browser with a device cookie has a row of its own. */
  readonly isCountedInRow: boolean;
  /** Whether it is exempt from the limits of its domain and the installation. */
  readonly isLifted: boolean;
}

export interface GuessTaken {
  readonly allowed: boolean;
  readonly spent: GuessSpender | undefined;
  /** To be given back where the guess turns out to be right, or is not evaluated. */
  readonly counts: readonly TakenCount[];
}

interface WrongCodesOptions {
  /** Guesses per hour at one address. */
  readonly perHour: number;
  /** Wrong codes per day at all addresses of a domain (MAX_OTP_FAILURES_PER_DAY). */
  readonly perDomain: number;
}

/**
 * Limits wrong codes: at an address by the hour and in a row, at a domain and in the whole installation by the day (UTC). A browser that
 * logged in before has a limit of its own, so that no stranger locks it out. Each guess is counted before it is evaluated, exactly
 * across all nodes, and given back where it was not evaluated or was right. @throws Unavailable when the database is away
 */
export class WrongCodes {
  readonly #counters: Counters;
  readonly #perHour: number;
  readonly #byDay: DomainLimit;

  constructor(counters: Counters, subjects: Pick<Subjects, 'domain'>, { perHour, perDomain }: WrongCodesOptions) {
    this.#counters = counters;
    this.#perHour = perHour;
    this.#byDay = new DomainLimit(counters, subjects, { name: 'otp-failed', perDomain, windowMs: DAY_MS });
  }

  /** Whether a device cookie has guesses left; without any, its browser is treated like any other. */
  async hasLeft(device: Device): Promise<boolean> {
    return (await this.#counters.read(deviceKey(device), DEVICE_LIFE_MS, device.untilMs)) < MAX_FAILURES_IN_ROW;
  }

  /** Counts a guess, with the same number of queries whether or not there is something to guess. */
  async take({ subject, email, hasCode, device, ...guess }: Guess, atMs: number): Promise<GuessTaken> {
    const hourKey = `otp-verify:${subject}${device === undefined ? '' : ':known'}`;
    const ofHour = await this.#take(hasCode ? hourKey : undefined, subject, this.#perHour, HOUR_MS, atMs);
    const isOpen = email !== undefined && ofHour.allowed;
    const ownKey = device !== undefined ? deviceKey(device) : guess.isCountedInRow ? rowKey(subject) : undefined;
    // A cookie counts in the one window that contains its expiry: windows counted from now would let it start again halfway.
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

  /** The guess was not evaluated. Makes one query in any case, so that the time does not reveal whether something was counted. */
  async giveBack({ counts }: GuessTaken, subject: string, atMs: number): Promise<void> {
    if (counts.length > 0) await this.#counters.giveBack(counts);
    else await this.#take(undefined, subject, UNLIMITED, HOUR_MS, atMs);
  }

  /** The guess was right, so it is not a failure. */
  async succeeded({ counts }: GuessTaken): Promise<void> {
    await this.#counters.giveBack(counts.filter(({ key }) => !key.startsWith('otp-verify:')));
  }

  #take(key: string | undefined, subject: string, limit: number, ofMs: number, atMs: number) {
    // A counter that counts nothing need not be kept as long as one for consecutive failures.
    const windowMs = key === undefined ? HOUR_MS : ofMs;
    return countInConstantTime(this.#counters, { key, idleKey: `otp-idle:${subject}`, limit, windowMs }, atMs);
  }
}

/** The counter of an address's consecutive wrong codes. */
export function rowKey(subject: string): string {
  return `otp-row:${subject}`;
}

function deviceKey({ id }: Device): string {
  return `otp-device:${id}`;
}
