import { DAY_MS, HOUR_MS } from '../kernel/time.ts';
import { FOREVER_MS, type Counters, type CounterTake, type TakenCount } from '../stores/counters/contract.ts';
import { DEVICE_LIFE_MS, type Device } from './cookies.ts';
import type { Subjects } from './subjects.ts';

/** How many hours' worth of codes one network address may request per day before it counts as frequent. */
const USUAL_HOURS = 2;

/** A send that was counted, or refused. */
interface SendTaken {
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

/** Consecutive wrong codes, whatever the time between them (NIST SP 800-63B, section 5.2.2). */
export const MAX_FAILURES_IN_ROW = 100;

/** Whose limit had no guess left. */
export type GuessSpender = 'address' | 'device' | 'guesses_domain' | 'guesses_installation';

/** A guess: who makes it, and at which address. */
interface Guess {
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

interface GuessTaken {
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

/** The limit of the whole installation, as a multiple of one domain's. */
const DOMAINS = 5;

/** Whose limit was used up. */
type Spender = 'domain' | 'installation';

interface DomainTaken {
  readonly spent: Spender | undefined;
  /** To be given back if it turns out not to count. */
  readonly counts: readonly TakenCount[];
}

interface DomainLimitOptions {
  /** Keeps its counters apart from those of other limits. */
  readonly name: string;
  /** What the addresses of a domain share in a window; all domains share `DOMAINS` times as much. */
  readonly perDomain: number;
  readonly windowMs: number;
}

/**
 * A limit shared by all addresses of a domain, and one shared by all domains: without them, a guesser could invent an address for each
 * guess (docs/security.md). Exact across all nodes. @throws Unavailable when the database is away
 */
export class DomainLimit {
  readonly #counters: Pick<Counters, 'take'>;
  readonly #subjects: Pick<Subjects, 'domain'>;
  readonly #options: DomainLimitOptions;

  constructor(counters: Pick<Counters, 'take'>, subjects: Pick<Subjects, 'domain'>, options: DomainLimitOptions) {
    this.#counters = counters;
    this.#subjects = subjects;
    this.#options = options;
  }

  /** Counts one for an address, or nothing, with the same queries: the time must not reveal whether something is counted. */
  async take(email: string | undefined, atMs: number): Promise<DomainTaken> {
    const { name, perDomain } = this.#options;
    const domain = email === undefined ? undefined : this.#subjects.domain(domainOf(email));
    const ofDomain = await this.#takeOne(domain && `${name}:${domain}`, perDomain, atMs);
    // A domain whose limit is used up takes nothing from the others.
    const isCounted = domain !== undefined && ofDomain.allowed;
    const ofAll = await this.#takeOne(isCounted ? `${name}:all` : undefined, DOMAINS * perDomain, atMs);
    const spent = !ofDomain.allowed ? 'domain' : !ofAll.allowed ? 'installation' : undefined;
    return { spent, counts: [...ofDomain.counts, ...ofAll.counts] };
  }

  #takeOne(key: string | undefined, limit: number, atMs: number) {
    const { name, windowMs } = this.#options;
    return countInConstantTime(this.#counters, { key, idleKey: `${name}:idle`, limit, windowMs }, atMs);
  }
}

export function domainOf(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1);
}

/** No limit: this counter is only written so that a request that counts nothing takes as long as one that does. */
const UNLIMITED = 1_000_000_000;

interface ConstantTimeCount {
  /** Undefined where nothing is to be counted. */
  readonly key: string | undefined;
  /** The counter used instead, which limits nothing. */
  readonly idleKey: string;
  readonly limit: number;
  readonly windowMs: number;
}

/**
 * Counts one, or nothing, with the same query: its duration must not reveal which (docs/security.md).
 * @returns what was counted, to be given back if it turns out not to count
 * @throws Unavailable when the database is away
 */
async function countInConstantTime(
  counters: Pick<Counters, 'take'>,
  { key, idleKey, limit, windowMs }: ConstantTimeCount,
  atMs: number,
): Promise<{ readonly allowed: boolean; readonly counts: readonly TakenCount[] }> {
  if (key === undefined) {
    await counters.take(idleKey, UNLIMITED, windowMs, atMs);
    return { allowed: true, counts: [] };
  }
  const take = await counters.take(key, limit, windowMs, atMs);
  return { allowed: take.allowed, counts: countsOf(key, take) };
}

/** What a `take` has counted: nothing if it was refused. */
function countsOf(key: string, { allowed, windowStartMs }: CounterTake): readonly TakenCount[] {
  return allowed ? [{ key, windowStartMs }] : [];
}
