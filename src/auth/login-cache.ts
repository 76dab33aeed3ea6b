import { classify } from '../../machines/auth-session/selectors.ts';
import type { AuthRecord } from '../../machines/auth-session/types.ts';
import { Unavailable } from '../kernel/errors.ts';
import type { Eventually } from '../kernel/async.ts';
import type { Logins } from '../stores/logins/contract.ts';
import { Lru } from '../kernel/collections.ts';

/** A login as requests see it. */
export interface Login {
  /** Prefix auth_. */
  readonly id: string;
  readonly email: string;
  readonly expiresAtMs: number;
}

/** A login's row as this node last read it. */
export interface CachedLogin {
  readonly record: AuthRecord;
  /** Created once, so that a request with a cookie allocates nothing. */
  readonly answer: { readonly login: Login };
  /** When the row was last read. */
  readonly checkedAtMs: number;
  /** When the row was last requested, even if that failed. */
  askedAtMs: number;
  /** How many times `doubtAll` had been called by then; a row from an earlier round is read again. */
  readonly round: number;
}

/** How old an answer may be when no bus message arrives (docs/goals.md, R8). */
const STALE_AFTER_MS = 5_000;
/** From this age on the row is read again in the background, so that a busy login never waits. */
const REFRESH_AFTER_MS = 2_500;
/** How often reading one login's row is retried while the database is away. */
const RETRY_MS = 1_000;
const CAPACITY = 20_000;

/**
 * Caches rows of logins, at most five seconds old. A dropped login is never answered from a load that began before the drop. While the
 * database is away, cached logins stay valid until their own expiry (docs/architecture.md, section 5).
 */
export class LoginCache {
  readonly #logins: Logins;
  readonly #known = new Lru<CachedLogin>(CAPACITY);
  readonly #loads = new Map<string, Promise<CachedLogin | undefined>>();
  #isAway = false;
  #round = 0;

  constructor(logins: Logins) {
    this.#logins = logins;
  }

  /** True from a failed database call until the next one that succeeds. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /**
   * The login's row; undefined when there is none. Logins that ended stay cached as ended.
   * @throws Unavailable when the row is not cached and cannot be read.
   */
  get(id: string, atMs: number): Eventually<CachedLogin | undefined> {
    const known = this.#known.get(id);
    if (known === undefined) return this.#load(id, atMs);
    const ageMs = known.round < this.#round ? STALE_AFTER_MS : atMs - known.checkedAtMs;
    // An end is final. If the clock was set back the age is negative, which means nothing.
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

  /** Caches a row that was just written. */
  add(record: AuthRecord, atMs: number): CachedLogin {
    this.#isAway = false;
    const known = toCached(record, atMs, this.#round);
    this.#known.set(record.id, known);
    return known;
  }

  /** Caches a newer row, unless the login was dropped, doubted or read again meanwhile: then that is the newer information. */
  replace(before: CachedLogin, record: AuthRecord, atMs: number): CachedLogin {
    if (this.#known.get(record.id) === before && before.round === this.#round) return this.add(record, atMs);
    return toCached(record, atMs, this.#round);
  }

  /** Forgets a login, so that the next request reads its row. */
  drop(id: string): void {
    this.#known.delete(id);
    this.#loads.delete(id);
  }

  /** Makes every login's row be read again before it is trusted; while the database is away, cached rows stay in use. */
  doubtAll(): void {
    this.#round += 1;
    // Loads under way may have read their row too early.
    this.#loads.clear();
  }

  /** Notes that a database call for a login failed. */
  lost(): void {
    this.#isAway = true;
  }

  #refresh(known: CachedLogin, atMs: number): void {
    const sinceAskedMs = atMs - known.askedAtMs;
    if (sinceAskedMs >= 0 && sinceAskedMs < RETRY_MS) return;
    known.askedAtMs = atMs;
    // Only a request that has to wait for the row needs to see a failure.
    this.#load(known.record.id, atMs).catch(() => {});
  }

  /** One load at a time for each login, shared by all callers. */
  #load(id: string, atMs: number): Promise<CachedLogin | undefined> {
    const underWay = this.#loads.get(id);
    if (underWay !== undefined) return underWay;
    const load: Promise<CachedLogin | undefined> = this.#read(id).then(
      (record) => {
        // The login was dropped while its row was being read, perhaps too early.
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

  /** Does not let a row that was read before this node's own latest write replace it. */
  #keep(record: AuthRecord, atMs: number): CachedLogin {
    const known = this.#known.get(record.id);
    return known !== undefined && known.record.version > record.version ? known : this.add(record, atMs);
  }
}

function isLive({ record }: CachedLogin, atMs: number): boolean {
  return classify(record, atMs) === 'active';
}

function toCached(record: AuthRecord, atMs: number, round: number): CachedLogin {
  const { id, email, expiresAtMs } = record;
  return { record, answer: { login: { id, email, expiresAtMs } }, checkedAtMs: atMs, askedAtMs: atMs, round };
}
