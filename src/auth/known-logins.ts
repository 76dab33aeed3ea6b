import { classify } from '../../machines/auth-session/selectors.ts';
import type { AuthRecord } from '../../machines/auth-session/types.ts';
import { Unavailable } from '../kernel/errors.ts';
import type { Eventually } from '../kernel/eventually.ts';
import type { Logins } from '../stores/logins/contract.ts';
import { Lru } from '../kernel/lru.ts';

/** A login as a request may know it. */
export interface Login {
  /** Prefix auth_. */
  readonly id: string;
  readonly email: string;
  readonly expiresAtMs: number;
}

/** What this node knows of a login's row. */
export interface KnownLogin {
  readonly record: AuthRecord;
  /** Made once: a request with a cookie allocates nothing. */
  readonly answer: { readonly login: Login };
  /** When the row said so. */
  readonly checkedAtMs: number;
  /** When the row was last asked, whether or not it answered. */
  askedAtMs: number;
  /** How often all that was known had been doubted by then (`doubtAll`): what is known since an earlier round is asked again. */
  readonly round: number;
}

/** How old an answer may be when no bus message comes through (docs/goals.md, R8). */
const STALE_AFTER_MS = 5_000;
/** From this age on the row is asked in the background, so that a busy login never waits. */
const REFRESH_AFTER_MS = 2_500;
/** How often the row of one login is asked while the database is away. */
const RETRY_MS = 1_000;
const CAPACITY = 20_000;

/**
 * The rows of logins, at most five seconds old. A dropped login is never answered from a load that began before the drop. While the
 * database is away, what is known goes on until its own expiry (docs/architecture.md, section 5).
 */
export class KnownLogins {
  readonly #logins: Logins;
  readonly #known = new Lru<KnownLogin>(CAPACITY);
  readonly #loads = new Map<string, Promise<KnownLogin | undefined>>();
  #isAway = false;
  #round = 0;

  constructor(logins: Logins) {
    this.#logins = logins;
  }

  /** True from a failed call to the database until the next that works. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /**
   * The login's row; undefined when there is none. Logins that ended stay known as such.
   * @throws Unavailable when the row is neither known nor to be had.
   */
  get(id: string, atMs: number): Eventually<KnownLogin | undefined> {
    const known = this.#known.get(id);
    if (known === undefined) return this.#load(id, atMs);
    const ageMs = known.round < this.#round ? STALE_AFTER_MS : atMs - known.checkedAtMs;
    // An end is final. A clock that was set back makes an age below zero, which says nothing.
    if (known.record.destroyedAtMs !== null || (ageMs >= 0 && ageMs < REFRESH_AFTER_MS && isLive(known, atMs)))
      return known;
    if (isLive(known, atMs) && (this.#isAway || (ageMs >= 0 && ageMs < STALE_AFTER_MS))) {
      this.#refresh(known, atMs);
      return known;
    }
    return this.#load(id, atMs).catch((error: unknown) => {
      if (error instanceof Unavailable && isLive(known, atMs)) return known;
      throw error;
    });
  }

  /** Takes in a row that was just written. */
  add(record: AuthRecord, atMs: number): KnownLogin {
    this.#isAway = false;
    const known = toKnown(record, atMs, this.#round);
    this.#known.set(record.id, known);
    return known;
  }

  /** Takes in a newer row, unless the login was dropped, doubted or read again meanwhile: then what came meanwhile is the newer word. */
  replace(before: KnownLogin, record: AuthRecord, atMs: number): KnownLogin {
    if (this.#known.get(record.id) === before && before.round === this.#round) return this.add(record, atMs);
    return toKnown(record, atMs, this.#round);
  }

  /** Forgets a login, so that the next request asks its row. */
  drop(id: string): void {
    this.#known.delete(id);
    this.#loads.delete(id);
  }

  /** Asks the row of every login before it is believed again; while the database is away, what is known goes on. */
  doubtAll(): void {
    this.#round += 1;
    // What is being read may have been read too early.
    this.#loads.clear();
  }

  /** Says that the database failed a call for a login. */
  lost(): void {
    this.#isAway = true;
  }

  #refresh(known: KnownLogin, atMs: number): void {
    const sinceAskedMs = atMs - known.askedAtMs;
    if (sinceAskedMs >= 0 && sinceAskedMs < RETRY_MS) return;
    known.askedAtMs = atMs;
    // A failure shows to the request that has to wait for the row.
    this.#load(known.record.id, atMs).catch(() => {});
  }

  /** One load at a time for a login, shared by all who ask. */
  #load(id: string, atMs: number): Promise<KnownLogin | undefined> {
    const underWay = this.#loads.get(id);
    if (underWay !== undefined) return underWay;
    const load: Promise<KnownLogin | undefined> = this.#read(id).then(
      (record) => {
        // Dropped while the row was read: it may have been read too early.
        if (this.#loads.get(id) !== load) return this.#load(id, atMs);
        this.#loads.delete(id);
        if (record !== undefined) return this.#keep(record, atMs);
        this.#known.delete(id);
        return undefined;
      },
      (error: unknown) => {
        if (this.#loads.get(id) === load) this.#loads.delete(id);
        throw error;
      },
    );
    this.#loads.set(id, load);
    return load;
  }

  async #read(id: string): Promise<AuthRecord | undefined> {
    try {
      const record = await this.#logins.load(id);
      this.#isAway = false;
      return record;
    } catch (error) {
      if (error instanceof Unavailable) this.lost();
      throw error;
    }
  }

  /** A row that was read before this node's own latest write does not replace it. */
  #keep(record: AuthRecord, atMs: number): KnownLogin {
    const known = this.#known.get(record.id);
    return known !== undefined && known.record.version > record.version ? known : this.add(record, atMs);
  }
}

function isLive({ record }: KnownLogin, atMs: number): boolean {
  return classify(record, atMs) === 'active';
}

function toKnown(record: AuthRecord, atMs: number, round: number): KnownLogin {
  const { id, email, expiresAtMs } = record;
  return { record, answer: { login: { id, email, expiresAtMs } }, checkedAtMs: atMs, askedAtMs: atMs, round };
}
