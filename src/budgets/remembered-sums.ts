import { andThen, type Eventually } from '../kernel/async.ts';
import { Lru } from '../kernel/collections.ts';
import { HOUR_MS, SECOND_MS } from '../kernel/time.ts';
import type { Period } from '../quota/calendar.ts';
import type { Budget, BudgetUse, CallsOf, ConnectedTime } from '../stores/budgets/contract.ts';
import { addTotals, NOTHING_USED, type UsageTotals } from '../stores/ledger/contract.ts';
import { accountOf, countedBy, scopeOf, type BudgetOwner, type KnownDay } from './counted-by.ts';

// Sums of what budgets count, as this node remembers them: most entries need no query.

/** Subjects, keys and sessions whose sums are remembered. */
export const MAX_ACCOUNTS = 20_000;
/** Connected time that was read this long ago is read again. */
const FRESH_MS = SECOND_MS;
const NOT_CONNECTED: ConnectedTime = { ms: 0, calls: 0 };

/** The start of the last two hours, the present one included. */
export function lastHoursMs(atMs: number): number {
  return atMs - (atMs % HOUR_MS) - HOUR_MS;
}

/**
 * A sum until now. Its base, up to a cut, hardly changes and is read only when the cut has moved; what came since the cut is read whenever the sum is
 * not fresh.
 */
export class RunningSum<T> {
  /** What came before the cut. */
  base: T;
  /** What came since the cut. Who adds to the sum adds to this, until the next read. */
  recent: T;
  readonly #nothing: T;
  readonly #read: (fromMs: number, untilMs: number | undefined, atMs: number) => Promise<T>;
  #cutMs = NaN;
  #readAtMs = -Infinity;
  #reading: Promise<void> | undefined;

  /** @param read adds up what came from an instant on, until another or until now (`atMs`) @throws Unavailable */
  constructor(nothing: T, read: (fromMs: number, untilMs: number | undefined, atMs: number) => Promise<T>) {
    this.base = nothing;
    this.recent = nothing;
    this.#nothing = nothing;
    this.#read = read;
  }

  /** This sum, not older than `freshMs`. @throws Unavailable when the database is away */
  upTo(atMs: number, freshMs: number, fromMs: number, cutMs: number): Eventually<this> {
    if (atMs - this.#readAtMs < freshMs) return this;
    return (this.#reading ??= this.#readAgain(atMs, fromMs, cutMs)).then(() => this);
  }

  /** Forces the next read. */
  doubt(): void {
    this.#readAtMs = -Infinity;
  }

  async #readAgain(atMs: number, fromMs: number, cutMs: number): Promise<void> {
    try {
      let { base } = this;
      if (cutMs !== this.#cutMs) base = cutMs === fromMs ? this.#nothing : await this.#read(fromMs, cutMs, atMs);
      const recent = await this.#read(cutMs, undefined, atMs);
      Object.assign(this, { base, recent });
      this.#cutMs = cutMs;
      this.#readAtMs = atMs;
    } finally {
      this.#reading = undefined;
    }
  }
}

/** How long the calls that a budget counts were connected. Budgets without minutes cause no query. */
export class ConnectedMinutes {
  readonly #budgetUse: Pick<BudgetUse, 'connected'>;
  readonly #sums = new Lru<RunningSum<ConnectedTime>>(MAX_ACCOUNTS);

  constructor(budgetUse: Pick<BudgetUse, 'connected'>) {
    this.#budgetUse = budgetUse;
  }

  /** @param freshMs how old the result may be @throws Unavailable when the database is away */
  of(budget: Budget, period: Period, owner: BudgetOwner, atMs: number, freshMs = FRESH_MS): Eventually<ConnectedTime> {
    if (budget.microMinutes === null) return NOT_CONNECTED;
    const of = callsOf(budget, owner);
    // A session counts from its beginning, even if that was yesterday.
    const fromMs = budget.period === 'session' ? 0 : period.fromMs;
    if (of === undefined || atMs < fromMs) return NOT_CONNECTED;
    const name = `${accountOf(budget, owner)} ${fromMs}`;
    const sum =
      this.#sums.get(name) ??
      new RunningSum(NOT_CONNECTED, (sinceMs, untilMs, now) => this.#budgetUse.connected(of, sinceMs, untilMs ?? now));
    this.#sums.set(name, sum);
    // A session has few calls. Calls that ended by the cut no longer change.
    const cutMs = 'sessionId' in of ? fromMs : Math.max(fromMs, lastHoursMs(atMs));
    return andThen(sum.upTo(atMs, freshMs, fromMs, cutMs), ({ base, recent }) => ({
      ms: base.ms + recent.ms,
      calls: recent.calls,
    }));
  }
}

/** Undefined before there is a session. */
function callsOf(budget: Budget, { sessionId, subject }: BudgetOwner): CallsOf | undefined {
  const by = countedBy(budget);
  if (by === 'session') return sessionId == null ? undefined : { sessionId };
  return by === 'subject' ? { subject } : scopeOf(budget);
}

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
