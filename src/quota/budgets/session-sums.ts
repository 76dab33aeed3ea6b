import type { Eventually } from '../../kernel/eventually.ts';
import { Lru } from '../../kernel/lru.ts';
import type { BudgetUse } from '../../stores/budgets/contract.ts';
import { addTotals, NOTHING_USED, type UsageTotals } from '../../stores/ledger/contract.ts';
import { MAX_ACCOUNTS } from './connected-minutes.ts';
import type { BudgetOwner, KnownDay } from './counted-by.ts';

interface SessionSum {
  readonly used: UsageTotals;
  /** What the session's subject had used on this day at that time. */
  readonly ofSubject: UsageTotals;
  readonly day: string;
}

/**
 * What sessions have used, read only once for most of them: the ledger returns the subject's total of the day with each entry, and if that has grown
 * by the entry alone, nothing else was counted for the session meanwhile.
 */
export class SessionSums {
  readonly #budgetUse: Pick<BudgetUse, 'ofSession'>;
  readonly #sums = new Lru<SessionSum>(MAX_ACCOUNTS);
  /** By the entry after which they began: several budgets may ask about it at once. */
  readonly #reads = new WeakMap<KnownDay, Promise<UsageTotals>>();

  constructor(budgetUse: Pick<BudgetUse, 'ofSession'>) {
    this.#budgetUse = budgetUse;
  }

  /** @param known totals of the current day, where an entry has just returned them @throws Unavailable when the database is away */
  of({ sessionId, subject }: BudgetOwner, day: string, known: KnownDay | undefined): Eventually<UsageTotals> {
    if (sessionId == null) return NOTHING_USED;
    const sum = this.#sums.get(sessionId);
    if (known !== undefined && sum?.day === known.day) {
      const { totals, added } = known;
      if (areEqual(sum.ofSubject, totals)) return sum.used;
      if (added != null && areEqual(addTotals(sum.ofSubject, added), totals)) {
        const used = addTotals(sum.used, added);
        this.#sums.set(sessionId, { ...sum, used, ofSubject: totals });
        return used;
      }
    }
    if (known === undefined) return this.#read(sessionId, subject, day);
    const read = this.#reads.get(known) ?? this.#read(sessionId, subject, known.day);
    this.#reads.set(known, read);
    return read;
  }

  async #read(sessionId: string, subject: string, day: string): Promise<UsageTotals> {
    const { used, ofSubject } = await this.#budgetUse.ofSession(sessionId, subject, day);
    this.#sums.set(sessionId, { used, ofSubject, day });
    return used;
  }
}

function areEqual(a: UsageTotals, b: UsageTotals): boolean {
  return a.tokens === b.tokens && a.microDollars === b.microDollars;
}
