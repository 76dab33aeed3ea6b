import { FrameBudget } from './frame-budget.ts';

/** What the sockets of one session, or of one address, share on this node. */
export interface Account {
  readonly name: string;
  sockets: number;
  /** The budget of their frames, see `FrameBudget`. */
  fullAtMs: number;
}

export interface AccountLimits {
  readonly sockets: number;
  /** Frames that they may send at once, and how many a minute they get back. */
  readonly burst: number;
  readonly perMinute: number;
}

/**
 * Counts sockets, and the frames that they send together. An account outlives its sockets until its budget is full again: who connects
 * anew goes on with what was left.
 */
export class Accounts {
  readonly #limits: AccountLimits;
  readonly #budget: FrameBudget;
  /** Budgets count from it, because the fractions of a large number are coarse. */
  readonly #epochMs: number;
  readonly #accounts = new Map<string, Account>();
  /** Those that had no sockets when they were last looked at. */
  readonly #resting = new Set<Account>();

  constructor(limits: AccountLimits, epochMs: number) {
    this.#limits = limits;
    this.#budget = new FrameBudget(limits.burst, limits.perMinute);
    this.#epochMs = epochMs;
  }

  /** Counts one socket more; undefined when there are as many as there may be. */
  enter(name: string): Account | undefined {
    const account = this.#accounts.get(name) ?? { name, sockets: 0, fullAtMs: 0 };
    if (account.sockets >= this.#limits.sockets) return undefined;
    account.sockets += 1;
    this.#accounts.set(name, account);
    return account;
  }

  leave(account: Account): void {
    account.sockets -= 1;
    if (account.sockets === 0) this.#resting.add(account);
  }

  /** Spends one frame; false when none was left. */
  spend(account: Account, at: number): boolean {
    const fullAtMs = this.#budget.spend(account.fullAtMs, at - this.#epochMs);
    if (fullAtMs === undefined) return false;
    account.fullAtMs = fullAtMs;
    return true;
  }

  /** Forgets accounts without sockets whose budgets are full again; call it about every second. */
  tidy(at: number): void {
    for (const account of this.#resting) {
      const isUsed = account.sockets > 0;
      if (!isUsed && !this.#budget.isFull(account.fullAtMs, at - this.#epochMs)) continue;
      this.#resting.delete(account);
      if (!isUsed) this.#accounts.delete(account.name);
    }
  }
}
