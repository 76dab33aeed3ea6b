import { DAY_MS } from '../kernel/time.ts';
import { FOREVER_MS, type Counters } from '../stores/counters/contract.ts';
import type { Askers, LoginAddresses } from '../stores/logins/contract.ts';
import { MAX_FAILURES_IN_ROW, rowKey } from './code-limits.ts';
import type { Device } from './cookies.ts';
import type { Subjects } from './subjects.ts';

/** How long an operator's lift lasts. */
const LIFT_MS = DAY_MS;

/** Who asks for a code, or tries one. */
export interface Visitor {
  /** The network address, by its scope. */
  readonly from: string;
  /** The device cookie for the e-mail address, if the browser holds one. */
  readonly device?: Device | undefined;
}

/** The state of an address. */
export interface AddressLock {
  /** Somebody has logged in with it. */
  readonly isKnown: boolean;
  /** An operator lifted its restrictions within the last day. */
  readonly isLifted: boolean;
  /** Consecutive wrong codes count. Not before anybody has logged in: they would lock out an owner who has no known browser yet. */
  readonly isCountedInRow: boolean;
  /** There were too many consecutive wrong codes: only browsers that logged in before may continue. */
  readonly isClosed: boolean;
}

/** The states of addresses (docs/contract.md, section 6.2). @throws Unavailable when the database is away */
export class AddressLocks {
  readonly #addresses: LoginAddresses;
  readonly #counters: Pick<Counters, 'read' | 'clear'>;
  readonly #subjects: Pick<Subjects, 'console'>;

  constructor(
    addresses: LoginAddresses,
    counters: Pick<Counters, 'read' | 'clear'>,
    subjects: Pick<Subjects, 'console'>,
  ) {
    this.#addresses = addresses;
    this.#counters = counters;
    this.#subjects = subjects;
  }

  async of(email: string, atMs: number): Promise<AddressLock> {
    const [{ isKnown, liftedAtMs }, failures] = await Promise.all([
      this.#addresses.find(this.#subjects.console(email), email),
      this.#failuresInRow(email, atMs),
    ]);
    const isLifted = liftedAtMs !== null && Math.abs(atMs - liftedAtMs) < LIFT_MS;
    const isCountedInRow = isKnown || isLifted;
    return { isKnown, isLifted, isCountedInRow, isClosed: isCountedInRow && failures >= MAX_FAILURES_IN_ROW };
  }

  /** Notes that somebody logged in with the address, which resets its consecutive wrong codes. */
  async loggedIn(email: string, atMs: number): Promise<void> {
    const subject = this.#subjects.console(email);
    await Promise.all([this.#addresses.loggedIn(subject, atMs), this.#counters.clear(rowKey(subject))]);
  }

  /** @returns how many consecutive wrong codes are forgotten */
  async lift(email: string, atMs: number): Promise<number> {
    const subject = this.#subjects.console(email);
    const failures = await this.#failuresInRow(email, atMs);
    await this.#addresses.lift(subject, atMs);
    await this.#counters.clear(rowKey(subject));
    return failures;
  }

  #failuresInRow(email: string, atMs: number): Promise<number> {
    return this.#counters.read(rowKey(this.#subjects.console(email)), FOREVER_MS, atMs);
  }
}

/** Whose codes a browser requests and tries first, and whose it tries next: codes of strangers never replace those of known browsers. */
export function askersFor(
  email: string,
  device: Device | undefined,
  subjects: Pick<Subjects, 'knownBrowsers'>,
): readonly [own: Askers, others: Askers] {
  const known = { only: subjects.knownBrowsers(email) };
  const strangers = { but: known.only };
  return device === undefined ? [strangers, known] : [known, strangers];
}
