import { andThen, awaitedLater, type Eventually } from '../kernel/async.ts';
import { Lru } from '../kernel/collections.ts';
import { MINUTE_MS, SECOND_MS } from '../kernel/time.ts';
import type { Budget, BudgetUse, BudgetUsed } from '../stores/budgets/contract.ts';
import { addTotals, NOTHING_USED, type Ledger, type UsageTotals } from '../stores/ledger/contract.ts';
import type { Period, QuotaDay } from '../quota/calendar.ts';
import { accountOf, countedBy, scopeOf, type BudgetOwner, type CountedBy, type KnownDay } from './counted-by.ts';
import { ConnectedMinutes, lastHoursMs, MAX_ACCOUNTS, RunningSum, SessionSums } from './remembered-sums.ts';
import { isUsedUp, minutesMs } from './used-share.ts';

/** Later than this is no forecast: replies can show no year after 9999. */
const MAX_PROJECTED_MS = Date.UTC(9999, 0);
/** An hourly sum of this age is read again; until then what this node counts is added. */
const FRESH_MS = SECOND_MS;
/** Past days hardly change: a late entry, which waited for the database, is seen after this time. */
const PAST_MS = MINUTE_MS;

/** An entry of the ledger, with the totals of its day right after it. */
export interface CountedEntry extends KnownDay {
  readonly added: UsageTotals | null;
  readonly atMs: number;
  /** Id of the request that reported it. */
  readonly requestId?: string | undefined;
}

/** A budget and one of its periods. */
export interface BudgetInPeriod {
  readonly budget: Budget;
  readonly period: Period;
}

interface FormerDays {
  readonly readAtMs: number;
  /** A promise until it is read. */
  used: Eventually<UsageTotals>;
}

export interface UsedAmountsDeps {
  readonly budgetUse: BudgetUse;
  readonly ledger: Pick<Ledger, 'totals'>;
  readonly calendar: (atMs: number) => QuotaDay;
}

/**
 * How much of a budget is used. For subjects, keys and sessions it is exact: the entry itself returns the day's total. For agents, tenants and the
 * installation no row has a total, because all entries would contend for it: what other nodes counted is known a second later.
 */
export class UsedAmounts {
  readonly #deps: UsedAmountsDeps;
  readonly #past = new Lru<FormerDays>(MAX_ACCOUNTS);
  /** Past hours are read once an hour, the last two hours every second; until then what this node counts is added. */
  readonly #hours = new Lru<RunningSum<UsageTotals>>(MAX_ACCOUNTS);
  readonly #sessions: SessionSums;
  /** How long calls were connected, for budgets with minutes. */
  readonly connected: ConnectedMinutes;

  constructor(deps: UsedAmountsDeps) {
    this.#deps = deps;
    this.#sessions = new SessionSums(deps.budgetUse);
    this.connected = new ConnectedMinutes(deps.budgetUse);
  }

  /** @param known totals of the current day, where an entry has just returned them @throws Unavailable when the database is away */
  of(budget: Budget, period: Period, owner: BudgetOwner, atMs: number, known?: KnownDay): Eventually<BudgetUsed> {
    const totals = this.#totalsOf(budget, period, owner, atMs, known);
    const connected = this.connected.of(budget, period, owner, atMs);
    // Called for every entry and budget: usually everything is known without waiting.
    if (totals instanceof Promise || connected instanceof Promise)
      return Promise.all([totals, connected]).then(([used, { ms }]) => ({ ...used, connectedMs: ms }));
    return { tokens: totals.tokens, microDollars: totals.microDollars, connectedMs: connected.ms };
  }

  #totalsOf(
    budget: Budget,
    period: Period,
    owner: BudgetOwner,
    atMs: number,
    known: KnownDay | undefined,
  ): Eventually<UsageTotals> {
    const by = countedBy(budget);
    if (by === 'session') return this.#sessions.of(owner, this.#deps.calendar(atMs).day, known);
    if (isOfHours(by)) return this.#ofHours(budget, period, atMs);
    const totals = by === 'subject' ? known?.totals : known?.keyTotals;
    return this.#ofDays(accountOf(budget, owner), period, atMs, known?.day, totals);
  }

  /** What is used of budgets right after an entry that they count. All reads begin at once, so that they share statements. */
  after(
    entry: CountedEntry,
    owner: BudgetOwner,
    counting: readonly BudgetInPeriod[],
  ): readonly (BudgetInPeriod & { readonly used: Eventually<BudgetUsed> })[] {
    if (entry.added !== null) this.#add(counting, entry.added);
    return counting.map(({ budget, period }) => {
      const used = this.of(budget, period, owner, entry.atMs, entry);
      return { budget, period, used: used instanceof Promise ? awaitedLater(used) : used };
    });
  }

  /** Adds what this node has just counted to sums that are read less often: once to each, although several budgets may share it. */
  #add(counting: readonly BudgetInPeriod[], added: UsageTotals): void {
    const sums = new Set<RunningSum<UsageTotals>>();
    for (const { budget, period } of counting) {
      const sum = isOfHours(countedBy(budget)) ? this.#hours.get(nameOf(budget, period)) : undefined;
      if (sum !== undefined) sums.add(sum);
    }
    // Usage counted during a read may or may not be in it: the next read includes it for certain.
    for (const sum of sums) sum.recent = addTotals(sum.recent, added);
  }

  /** Forces the next read: a changed budget must not be judged by a sum that lacks what others have counted. */
  doubt(budget: Budget, period: Period): void {
    this.#hours.get(nameOf(budget, period))?.doubt();
  }

  /** What was used before the current day. */
  before(account: string, { firstDay }: Period, atMs: number): Eventually<UsageTotals> {
    const { day } = this.#deps.calendar(atMs);
    if (day <= firstDay) return NOTHING_USED;
    const name = `${account} ${firstDay} ${day}`;
    const found = this.#past.get(name);
    if (found !== undefined && atMs - found.readAtMs < PAST_MS) return found.used;
    const used = this.#deps.budgetUse.ofDays(account, firstDay, day);
    const days: FormerDays = { readAtMs: atMs, used };
    this.#past.set(name, days);
    used.then(
      (read) => (days.used = read),
      () => this.#past.delete(name),
    );
    return used;
  }

  /**
   * When a budget with a sole owner will be used up, at the pace of this hour and the one before; null where that is not within its period, and for
   * subjects and sessions, which have no hourly sums.
   * @throws Unavailable when the database is away
   */
  async projectedAtMs(budget: Budget, { resetAtMs }: Period, used: BudgetUsed, atMs: number): Promise<number | null> {
    const by = countedBy(budget);
    if (by === 'session' || by === 'subject' || isUsedUp(used, budget)) return null;
    const sinceMs = lastHoursMs(atMs);
    const { budgetUse } = this.#deps;
    const [pace, connected] = await Promise.all([
      budgetUse.ofHours(scopeOf(budget), sinceMs),
      budget.microMinutes === null ? undefined : budgetUse.connected(scopeOf(budget), sinceMs, atMs),
    ]);
    const lasts = (left: number, burnt: number): number => (burnt > 0 ? (left / burnt) * (atMs - sinceMs) : Infinity);
    const leftMs = Math.min(
      lasts((budget.microDollars ?? Infinity) - used.microDollars, pace.microDollars),
      lasts((budget.tokens ?? Infinity) - used.tokens, pace.tokens),
      lasts(minutesMs(budget) - used.connectedMs, connected?.ms ?? 0),
    );
    const reachedMs = Math.round(atMs + leftMs);
    return reachedMs < (resetAtMs ?? MAX_PROJECTED_MS) ? reachedMs : null;
  }

  #ofDays(
    account: string,
    period: Period,
    atMs: number,
    knownDay: string | undefined,
    knownTotals: UsageTotals | null | undefined,
  ): Eventually<UsageTotals> {
    const { day } = this.#deps.calendar(atMs);
    if (day < period.firstDay) return NOTHING_USED;
    const isKnown = knownDay === day && knownTotals != null;
    const past = this.before(account, period, atMs);
    const today = isKnown ? knownTotals : this.#deps.ledger.totals(account, day);
    if (past instanceof Promise || today instanceof Promise)
      return Promise.all([past, today]).then(([before, since]) => addTotals(before, since));
    return addTotals(past, today);
  }

  #ofHours(budget: Budget, period: Period, atMs: number): Eventually<UsageTotals> {
    if (atMs < period.fromMs) return NOTHING_USED;
    const name = nameOf(budget, period);
    const { fromMs } = period;
    let sum = this.#hours.get(name);
    if (sum === undefined) {
      const scope = scopeOf(budget);
      const { budgetUse } = this.#deps;
      sum = new RunningSum(NOTHING_USED, (sinceMs, untilMs) => budgetUse.ofHours(scope, sinceMs, untilMs));
      this.#hours.set(name, sum);
    }
    const cutMs = Math.max(fromMs, lastHoursMs(atMs));
    return andThen(sum.upTo(atMs, FRESH_MS, fromMs, cutMs), ({ base, recent }) => addTotals(base, recent));
  }
}

/** Whether it is added up from hours, because no row has its total. */
function isOfHours(by: CountedBy): boolean {
  return by === 'agent' || by === 'tenant' || by === 'installation';
}

function nameOf({ tenantId, of }: Budget, { name, firstDay }: Period): string {
  return `${tenantId ?? ''} ${of} ${name} ${firstDay}`;
}
