import { reachedOf } from '../../machines/budget/selectors.ts';
import type { Eventually } from '../kernel/async.ts';
import { Lru } from '../kernel/collections.ts';
import { DAY_MS } from '../kernel/time.ts';
import type { Budget, BudgetUsed } from '../stores/budgets/contract.ts';
import { NOTHING_USED, type UsageTotals } from '../stores/ledger/contract.ts';
import type { Period, PeriodAt } from '../quota/calendar.ts';
import type { Ceilings } from '../quota/ceilings.ts';
import { accountOf, counts, heldAccountOf, soleOwner, type BudgetOwner, type KnownDay } from './counted-by.ts';
import { ceilingsOf, endsByUsage, hasMinutes, isUsedUp, minutesMs, percentOf, shareOf } from './used-share.ts';
import { ownersToCheck } from './owners-to-check.ts';
import { BudgetAlerts, type BudgetAlertsDeps } from './alerts.ts';
import { UsedAmounts, type CountedEntry, type UsedAmountsDeps } from './used-amounts.ts';
import { BudgetConsequences, usedUpOf, type ConsequencesDeps, type UsedUp } from './used-up.ts';

/** Most account records that are looked at after a budget changed, or at the end of its period. */
const MAX_REMEMBERED = 1000;
/** A period that ended longer ago than this is not reported any more. */
const MAX_LATE_MS = DAY_MS;
/** Sessions whose agents are remembered. */
const MAX_SESSIONS = 20_000;
const NONE: readonly Budget[] = [];

export interface BudgetLimitsDeps extends UsedAmountsDeps, BudgetAlertsDeps, ConsequencesDeps {
  readonly directory: ConsequencesDeps['directory'] & {
    budgetsOf(tenantId: string | null): readonly Budget[];
    allBudgets(): readonly Budget[];
  };
  /** Hears how much is used of each budget that has a sole owner, after each look at all budgets. */
  readonly onShares?: ((shares: ReadonlyMap<Budget, number>) => void) | undefined;
  readonly periodAt: PeriodAt;
}

/** What a budget still leaves, for working out a remainder. */
export interface BudgetAccount {
  /** The account of a subject or a key, of which sessions hold back what they will use; null for everything else. */
  readonly account: string | null;
  readonly ceilings: Ceilings;
  readonly total: UsageTotals;
  /** When its period is over; null if it never is. */
  readonly resetAtMs: number | null;
}

/** The state of a budget in its current period. */
export interface BudgetStanding {
  readonly period: Period;
  /** Undefined for a budget that counts separately for several owners. */
  readonly used: BudgetUsed | undefined;
  /** Percentage of the limit that is used most; 100 or more where nothing is left. */
  readonly percent: number | undefined;
  readonly projectedAtMs: number | null;
}

/**
 * Enforces budgets (docs/contract.md, section 3): refuses sessions when nothing is left, ends those that are going on, and tells operators. Without
 * budgets it makes no queries.
 */
export class BudgetLimits {
  readonly #deps: BudgetLimitsDeps;
  readonly #amounts: UsedAmounts;
  readonly #alerts: BudgetAlerts;
  readonly #consequences: BudgetConsequences;
  /** The agents of sessions, which never change. */
  readonly #agents = new Lru<string>(MAX_SESSIONS);

  constructor(deps: BudgetLimitsDeps) {
    this.#deps = deps;
    this.#amounts = new UsedAmounts(deps);
    this.#alerts = new BudgetAlerts(deps);
    this.#consequences = new BudgetConsequences(deps, this.#amounts, this.#alerts);
  }

  /**
   * The first budget that has nothing left.
   * @param isCreate true for a session that is to be opened; for an existing one only budgets that end sessions count
   * @throws Unavailable when the database is away
   */
  async usedUp(owner: BudgetOwner, atMs: number, isCreate: boolean): Promise<UsedUp | undefined> {
    const all = await this.#applicableTo(owner);
    const bounding = all.filter(({ atLimit }) => atLimit === 'end' || (isCreate && atLimit === 'refuse'));
    const looks = await Promise.all(
      bounding.map(async (budget) => {
        const period = this.#periodOf(budget, atMs);
        return { budget, period, used: await this.#amounts.of(budget, period, owner, atMs) };
      }),
    );
    const spent = looks.find(({ budget, used }) => isUsedUp(used, budget));
    return spent && usedUpOf(spent.budget, spent.period, spent.used);
  }

  /**
   * What follows an entry: tells operators of thresholds, and ends sessions for which a budget leaves nothing.
   * @returns the first such budget that ends sessions
   * @throws Unavailable when the database is away: the entry is counted, and the next entry or look does the rest
   */
  async counted(owner: BudgetOwner, entry: CountedEntry): Promise<UsedUp | undefined> {
    const all = await this.#applicableTo(owner);
    const counting = all.map((budget) => ({ budget, period: this.#periodOf(budget, entry.atMs) }));
    let first: UsedUp | undefined;
    for (const { budget, period, used: known } of this.#amounts.after(entry, owner, counting)) {
      const used = known instanceof Promise ? await known : known;
      const judged = this.#consequences.apply(budget, period, owner, used, entry.atMs, entry.requestId);
      if (judged instanceof Promise ? await judged : judged) first ??= usedUpOf(budget, period, used);
    }
    return first;
  }

  /**
   * What the budgets that end sessions leave to a session.
   * @param known totals of the current day, where an entry has just returned them
   * @throws Unavailable when the database is away
   */
  async accountsOf(owner: BudgetOwner, atMs: number, known?: KnownDay): Promise<readonly BudgetAccount[]> {
    const all = (await this.#applicableTo(owner)).filter(endsByUsage);
    return Promise.all(
      all.map(async (budget) => {
        const period = this.#periodOf(budget, atMs);
        return {
          account: heldAccountOf(budget, owner),
          ceilings: ceilingsOf(budget),
          total: await this.#amounts.of(budget, period, owner, atMs, known),
          resetAtMs: period.resetAtMs,
        };
      }),
    );
  }

  /**
   * The same for subjects and keys, expressed as ceilings of the current day: the budget less what was used before today.
   * @throws Unavailable when the database is away
   */
  async dayCeilingsOf(owner: BudgetOwner, atMs: number): Promise<readonly { account: string; ceilings: Ceilings }[]> {
    const all = (await this.#applicableTo(owner)).filter(endsByUsage);
    const found = all.map(async (budget) => {
      const account = heldAccountOf(budget, owner);
      if (account === null) return [];
      const before = await this.#amounts.before(account, this.#periodOf(budget, atMs), atMs);
      const { dailyTokens, dailyMicroDollars } = ceilingsOf(budget);
      const ceilings = {
        dailyTokens: Math.max(0, dailyTokens - before.tokens),
        dailyMicroDollars: Math.max(0, dailyMicroDollars - before.microDollars),
      };
      return [{ account, ceilings }];
    });
    return (await Promise.all(found)).flat();
  }

  /**
   * What follows from time passing in calls, independently of entries: tells operators of thresholds of minutes, and ends sessions whose minutes are
   * used up. Call it every second for the calls of this node.
   * @returns for each owner, when its minutes will be used up if calls go on as now; Infinity where they will not be
   * @throws Unavailable when the database is away: the next call catches up
   */
  async followCalls(owners: readonly BudgetOwner[], atMs: number): Promise<readonly number[]> {
    if (!this.#deps.directory.allBudgets().some(hasMinutes)) return owners.map(() => Infinity);
    const ends = new Map<string, Promise<number>>();
    const endOf = (budget: Budget, owner: BudgetOwner): Promise<number> => {
      const name = `${budget.tenantId ?? ''}/${budget.id} ${accountOf(budget, owner)}`;
      const end = ends.get(name) ?? this.#followCallsOf(budget, owner, atMs);
      ends.set(name, end);
      return end;
    };
    return Promise.all(
      owners.map(async (owner) => {
        const all = (await this.#applicableTo(owner)).filter(hasMinutes);
        return Math.min(Infinity, ...(await Promise.all(all.map((budget) => endOf(budget, owner)))));
      }),
    );
  }

  /**
   * Looks at budgets without a new entry: they are new or changed, or an entry's follow-up may have been lost with its node.
   * @returns the share that is used of each budget that has a sole owner
   * @throws Unavailable when the database is away
   */
  async look(budgets: readonly Budget[], atMs: number): Promise<ReadonlyMap<Budget, number>> {
    const ofOne = budgets.filter((budget) => soleOwner(budget) !== undefined);
    const ofSeveral = budgets.filter((budget) => soleOwner(budget) === undefined);
    // Queries made at once share one statement of each kind.
    const shares = await Promise.all(ofOne.map(async (budget) => [budget, await this.#look(budget, atMs)] as const));
    for (const budget of ofSeveral) await this.#look(budget, atMs);
    return new Map(shares);
  }

  /** @returns the share that is used; for a budget with several owners, the greatest of those looked at */
  async #look(budget: Budget, atMs: number): Promise<number> {
    const period = this.#periodOf(budget, atMs);
    const { tenantId, id } = budget;
    const told = await this.#deps.budgetStates.ofBudget(tenantId, id, period.name, MAX_REMEMBERED);
    this.#alerts.remember(told);
    this.#amounts.doubt(budget, period);
    let share = 0;
    const all = await ownersToCheck(budget, period, told, atMs, { ...this.#deps, amounts: this.#amounts });
    for (const { owner, used } of all) {
      share = Math.max(share, shareOf(used, budget));
      await this.#consequences.apply(budget, period, owner, used, atMs);
    }
    return share;
  }

  /** Looks at all budgets; call it every minute. @throws Unavailable when the database is away */
  async lookAtAll(atMs: number): Promise<void> {
    const shares = await this.look(this.#deps.directory.allBudgets(), atMs);
    this.#deps.onShares?.(shares);
    await this.#tellResets(atMs);
  }

  /** The current state of a budget. @throws Unavailable when the database is away */
  async standingOf(budget: Budget, atMs: number): Promise<BudgetStanding> {
    const period = this.#periodOf(budget, atMs);
    const owner = soleOwner(budget);
    const used = owner && (await this.#amounts.of(budget, period, owner, atMs));
    const projectedAtMs = used === undefined ? null : await this.#amounts.projectedAtMs(budget, period, used, atMs);
    return { period, used, percent: used && percentOf(used, budget), projectedAtMs };
  }

  /**
   * The start of the earliest day that budgets still count: usage since then must be kept, and for budgets with minutes calls as well. Infinity
   * without such budgets.
   */
  countedFromMs(atMs: number): { readonly usage: number; readonly calls: number } {
    const beginOf = (budgets: readonly Budget[]): number =>
      Math.min(Infinity, ...budgets.map((budget) => this.#periodOf(budget, atMs).fromMs));
    const all = this.#deps.directory.allBudgets();
    return { usage: beginOf(all), calls: beginOf(all.filter(hasMinutes)) };
  }

  async #tellResets(atMs: number): Promise<void> {
    const { budgetStates, directory } = this.#deps;
    const budgets = directory.allBudgets();
    if (budgets.length === 0) return;
    for (const record of await budgetStates.over(atMs - MAX_LATE_MS, atMs, MAX_REMEMBERED)) {
      const budget = budgets.find(({ tenantId, id }) => tenantId === record.tenantId && id === record.budgetId);
      if (budget !== undefined) await this.#alerts.reset(record, budget, this.#periodOf(budget, atMs), atMs);
    }
  }

  #periodOf(budget: Budget, atMs: number): Period {
    return this.#deps.periodAt(budget, atMs);
  }

  async #followCallsOf(budget: Budget, owner: BudgetOwner, atMs: number): Promise<number> {
    const period = this.#periodOf(budget, atMs);
    const { ms, calls } = await this.#amounts.connected.of(budget, period, owner, atMs, 0);
    const percent = percentOf({ ...NOTHING_USED, connectedMs: ms }, budget);
    // For dollars and tokens, the entries themselves show when a limit is reached.
    if (percent >= 100 || reachedOf(percent, budget.warnAt) > 0)
      await this.#consequences.apply(budget, period, owner, await this.#amounts.of(budget, period, owner, atMs), atMs);
    if (budget.atLimit !== 'end' || calls === 0) return Infinity;
    const endsAtMs = atMs + Math.max(0, minutesMs(budget) - ms) / calls;
    return endsAtMs < (period.resetAtMs ?? Infinity) ? endsAtMs : Infinity;
  }

  /** The budgets that count an owner's usage, the installation's first. An unknown agent is looked up only where some budget is for an agent. */
  #applicableTo(owner: BudgetOwner): Eventually<readonly Budget[]> {
    const { directory } = this.#deps;
    const ofAll = directory.budgetsOf(null);
    const ofTenant = owner.tenantId === null ? NONE : directory.budgetsOf(owner.tenantId);
    if (ofAll.length + ofTenant.length === 0) return NONE;
    const all = [...ofAll, ...ofTenant];
    const { sessionId } = owner;
    const needsAgent =
      owner.agentId === undefined && sessionId != null && all.some(({ of }) => of.startsWith('agent:'));
    const agentId = needsAgent ? (this.#agents.get(sessionId) ?? this.#agentOf(sessionId)) : owner.agentId;
    const toThis = (found: string | null | undefined): readonly Budget[] => {
      const whose = { ...owner, agentId: found };
      return all.filter((budget) => counts(budget, whose));
    };
    return agentId instanceof Promise ? agentId.then(toThis) : toThis(agentId);
  }

  async #agentOf(sessionId: string): Promise<string | null | undefined> {
    const agentId = (await this.#deps.sessions.find(sessionId))?.agentId;
    if (agentId != null) this.#agents.set(sessionId, agentId);
    return agentId;
  }
}
