import { FrameBudget } from './frame-budget.ts';

/** The budget that the sockets of one session, or of one address, share on this node. */
export interface SocketBudget {
  readonly name: string;
  sockets: number;
  /** Their frame bucket, see `FrameBudget`. */
  fullAtMs: number;
}

export interface SocketBudgetLimits {
  readonly sockets: number;
  /** Frames that they may send at once, and how many they get back in a minute. */
  readonly burst: number;
  readonly perMinute: number;
}

/** Counts sockets, and the frames that they send together. A budget outlives its sockets until it is full again: reconnecting does not refill it. */
export class SocketBudgets {
  readonly #limits: SocketBudgetLimits;
  readonly #budget: FrameBudget;
  /** Budgets count time from this instant, because large numbers have coarse fractions. */
  readonly #epochMs: number;
  readonly #budgets = new Map<string, SocketBudget>();
  /** Budgets that had no sockets when they were last looked at. */
  readonly #resting = new Set<SocketBudget>();

  constructor(limits: SocketBudgetLimits, epochMs: number) {
    this.#limits = limits;
    this.#budget = new FrameBudget(limits.burst, limits.perMinute);
    this.#epochMs = epochMs;
  }

  /** Counts one more socket; undefined when the limit is reached. */
  enter(name: string): SocketBudget | undefined {
    const budget = this.#budgets.get(name) ?? { name, sockets: 0, fullAtMs: 0 };
    if (budget.sockets >= this.#limits.sockets) return undefined;
    budget.sockets += 1;
    this.#budgets.set(name, budget);
    return budget;
  }

  leave(budget: SocketBudget): void {
    budget.sockets -= 1;
    if (budget.sockets === 0) this.#resting.add(budget);
  }

  /** Spends one frame; false when none was left. */
  spend(budget: SocketBudget, at: number): boolean {
    const fullAtMs = this.#budget.spend(budget.fullAtMs, at - this.#epochMs);
    if (fullAtMs === undefined) return false;
    budget.fullAtMs = fullAtMs;
    return true;
  }

  /** Forgets budgets that are full again and have no sockets; call it about every second. */
  tidy(at: number): void {
    for (const budget of this.#resting) {
      const isUsed = budget.sockets > 0;
      if (!isUsed && !this.#budget.isFull(budget.fullAtMs, at - this.#epochMs)) continue;
      this.#resting.delete(budget);
      if (!isUsed) this.#budgets.delete(budget.name);
    }
  }
}
