import type { Clock } from '../../kernel/clock.ts';
import { ifAway } from '../../kernel/errors.ts';
import { refOf } from '../../kernel/ids.ts';
import { DAY_MS } from '../../kernel/time.ts';
import type { BudgetNamed } from '../../protocol/budget.ts';
import type { Why } from '../../protocol/refusal-why.ts';
import type { Budget } from '../../stores/budgets/contract.ts';
import type { UsageTotals } from '../../stores/ledger/contract.ts';
import type { Period, PeriodAt } from '../calendar.ts';
import type { Ceilings } from '../ceilings.ts';
import {
  accountOf,
  ceilingsOf,
  countedBy,
  counts,
  isUsedUp,
  named,
  percentOf,
  shareOf,
  soleOwner,
  type BudgetOwner,
} from './matching.ts';
import { BudgetEnds, type EndingDeps } from './ending.ts';
import { BudgetTelling, type TellingDeps } from './telling.ts';
import { UsedOfBudgets, type KnownDay, type UseDeps } from './use.ts';

/** Records of accounts that are looked at after a change of their budget, or at the end of their period. */
const MAX_REMEMBERED = 1000;
/** That a period was over longer ago is of no use to anybody any more. */
const MAX_LATE_MS = DAY_MS;

export interface BudgetLimitsDeps extends UseDeps, TellingDeps, EndingDeps {
  readonly directory: {
    budgetsOf(tenantId: string | null): readonly Budget[];
    allBudgets(): readonly Budget[];
    all(): readonly { readonly id: string }[];
  };
  readonly clock: Clock;
  /** Hears of the shares that are used of all budgets of something that is one, after each look at all. */
  readonly onShares?: ((shares: ReadonlyMap<Budget, number>) => void) | undefined;
  readonly periodAt: PeriodAt;
}

/** A budget of which nothing is left, for whoever is refused because of it. */
export interface UsedUp {
  readonly budget: BudgetNamed;
  readonly why: Why;
}

/** What a budget still leaves, as a remainder is worked out. */
export interface BudgetAccount {
  /** Of a subject or a key, of which sessions hold back what they will use; null for all else. */
  readonly account: string | null;
  readonly ceilings: Ceilings;
  readonly total: UsageTotals;
}

/** What an entry of the ledger added, and the totals of its day right after it. */
export interface CountedEntry extends KnownDay {
  readonly added: UsageTotals | null;
  readonly atMs: number;
  readonly requestId?: string | undefined;
}

/** How a budget stands in its present period. */
export interface BudgetStanding {
  readonly period: Period;
  /** Undefined of a budget that counts for each of several. */
  readonly used: UsageTotals | undefined;
  /** Of the limit that is used most; 100 or more where nothing is left. */
  readonly percent: number | undefined;
  readonly projectedAtMs: number | null;
}

const NONE: readonly Budget[] = [];

/**
 * Enforces budgets (docs/contract.md, section 3): refuses what there is nothing left for, ends what goes on, and tells operators. Where there
 * are no budgets it asks nothing of anybody.
 */
export class BudgetLimits {
  readonly #deps: BudgetLimitsDeps;
  readonly #use: UsedOfBudgets;
  readonly #telling: BudgetTelling;
  readonly #ends: BudgetEnds;

  constructor(deps: BudgetLimitsDeps) {
    this.#deps = deps;
    this.#use = new UsedOfBudgets(deps);
    this.#telling = new BudgetTelling(deps);
    this.#ends = new BudgetEnds(deps);
  }

  /**
   * The first budget of which nothing is left.
   * @param isCreate whether a session is to be opened: else it goes on, and only budgets that end sessions count
   * @throws Unavailable when the database is away
   */
  async usedUp(owner: BudgetOwner, atMs: number, isCreate: boolean): Promise<UsedUp | undefined> {
    const all = await this.#of(owner);
    const bounding = all.filter(({ atLimit }) => atLimit === 'end' || (isCreate && atLimit === 'refuse'));
    const looks = await Promise.all(
      bounding.map(async (budget) => {
        const period = this.#periodOf(budget, atMs);
        return { budget, period, used: await this.#use.of(budget, period, owner, atMs) };
      }),
    );
    const spent = looks.find(({ budget, used }) => isUsedUp(used, budget));
    return spent && usedUpOf(spent.budget, spent.period, spent.used);
  }

  /**
   * What follows an entry: operators are told of thresholds, and sessions end of which a budget leaves nothing.
   * @returns the first such budget that ends sessions
   * @throws Unavailable when the database is away: it is counted, and the next entry or look does the rest
   */
  async counted(owner: BudgetOwner, entry: CountedEntry): Promise<UsedUp | undefined> {
    const all = await this.#of(owner);
    let first: UsedUp | undefined;
    for (const budget of all) {
      const period = this.#periodOf(budget, entry.atMs);
      if (entry.added !== null) this.#use.add(budget, period, entry.added);
      const used = await this.#use.of(budget, period, owner, entry.atMs, entry);
      if (await this.#judge(budget, period, owner, used, entry.atMs, entry.requestId))
        first ??= usedUpOf(budget, period, used);
    }
    return first;
  }

  /** What budgets that end sessions leave to a session. @throws Unavailable when the database is away */
  async accountsOf(owner: BudgetOwner, atMs: number): Promise<readonly BudgetAccount[]> {
    const all = (await this.#of(owner)).filter(({ atLimit }) => atLimit === 'end');
    return Promise.all(
      all.map(async (budget) => ({
        account: heldAccountOf(budget, owner),
        ceilings: ceilingsOf(budget),
        total: await this.#use.of(budget, this.#periodOf(budget, atMs), owner, atMs),
      })),
    );
  }

  /**
   * The same of subjects and keys, as ceilings of the present day: what is left of a longer time, and what the day has used of it, are the
   * ceiling of the day. @throws Unavailable when the database is away
   */
  async dayCeilingsOf(owner: BudgetOwner, atMs: number): Promise<readonly { account: string; ceilings: Ceilings }[]> {
    const all = (await this.#of(owner)).filter(({ atLimit }) => atLimit === 'end');
    const found = all.map(async (budget) => {
      const account = heldAccountOf(budget, owner);
      if (account === null) return [];
      const before = await this.#use.before(account, this.#periodOf(budget, atMs), atMs);
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
   * Looks at budgets whatever was counted: they are new or changed, or an entry may have died with its node.
   * @returns the share that is used of each budget of something that is one
   * @throws Unavailable when the database is away
   */
  async look(budgets: readonly Budget[], atMs: number): Promise<ReadonlyMap<Budget, number>> {
    const shares = new Map<Budget, number>();
    for (const budget of budgets) {
      const period = this.#periodOf(budget, atMs);
      const { tenantId, id } = budget;
      this.#telling.remember(await this.#deps.budgetStates.ofBudget(tenantId, id, period.name, MAX_REMEMBERED));
      const isOfOne = soleOwner(budget) !== undefined;
      this.#use.doubt(budget, period);
      for (const { owner, used } of await this.#usersOf(budget, period, atMs)) {
        if (isOfOne) shares.set(budget, shareOf(used, budget));
        await this.#judge(budget, period, owner, used, atMs);
      }
    }
    return shares;
  }

  /** The same of all budgets; call it every minute. @throws Unavailable when the database is away */
  async lookAtAll(atMs: number): Promise<void> {
    const shares = await this.look(this.#deps.directory.allBudgets(), atMs);
    this.#deps.onShares?.(shares);
    await this.#tellResets(atMs);
  }

  /** How a budget stands. @throws Unavailable when the database is away */
  async standingOf(budget: Budget, atMs: number): Promise<BudgetStanding> {
    const period = this.#periodOf(budget, atMs);
    const owner = soleOwner(budget);
    const used = owner && (await this.#use.of(budget, period, owner, atMs));
    const projectedAtMs = used === undefined ? null : await this.#use.projectedAtMs(budget, period, used, atMs);
    return { period, used, percent: used && percentOf(used, budget), projectedAtMs };
  }

  /** When the first day begins of those that budgets count: what was used since then is kept. Infinity without budgets. */
  countedFromMs(atMs: number): number {
    const begins = this.#deps.directory.allBudgets().map((budget) => this.#periodOf(budget, atMs).fromMs);
    return Math.min(Infinity, ...begins);
  }

  async #tellResets(atMs: number): Promise<void> {
    const { budgetStates, directory } = this.#deps;
    const budgets = directory.allBudgets();
    if (budgets.length === 0) return;
    for (const record of await budgetStates.over(atMs - MAX_LATE_MS, atMs, MAX_REMEMBERED)) {
      const budget = budgets.find(({ tenantId, id }) => tenantId === record.tenantId && id === record.budgetId);
      if (budget !== undefined) await this.#telling.reset(record, budget, this.#periodOf(budget, atMs), atMs);
    }
  }

  #periodOf(budget: Budget, atMs: number): Period {
    return this.#deps.periodAt(budget, atMs);
  }

  /** The budgets that count what somebody uses. Whose agent is not known is asked for only where there is a budget of one. */
  async #of(owner: BudgetOwner): Promise<readonly Budget[]> {
    const { directory, sessions } = this.#deps;
    const [ofAll, ofTenant] = [
      directory.budgetsOf(null),
      owner.tenantId === null ? NONE : directory.budgetsOf(owner.tenantId),
    ];
    if (ofAll.length + ofTenant.length === 0) return NONE;
    const all = [...ofAll, ...ofTenant];
    const needsAgent =
      owner.agentId === undefined && owner.sessionId != null && all.some(({ of }) => of.startsWith('agent:'));
    const agentId = needsAgent ? (await sessions.find(owner.sessionId ?? ''))?.agentId : owner.agentId;
    return all.filter((budget) => counts(budget, { ...owner, agentId }));
  }

  /** Tells what there is to tell, and ends what has to end. @returns whether nothing is left of a budget that ends sessions */
  async #judge(
    budget: Budget,
    period: Period,
    owner: BudgetOwner,
    used: UsageTotals,
    atMs: number,
    requestId?: string,
  ): Promise<boolean> {
    const isOfSession = budget.period === 'session';
    if (isOfSession && owner.sessionId == null) return false;
    // An entry may have waited for the database until its period was over.
    const isPresent = period.resetAtMs === null || this.#deps.clock.now() < period.resetAtMs;
    const isOver = budget.atLimit === 'end' && isPresent && isUsedUp(used, budget);
    // First, because what goes on costs money: it may be told later.
    if (isOver) await this.#ends.end(budget, owner, atMs, requestId);
    const account = accountOf(budget, owner);
    const shown = isOfSession ? refOf(account) : account;
    const projectedAtMs = () => this.#use.projectedAtMs(budget, period, used, atMs);
    // The entry is counted, and what had to end is ending: the next entry or look tells it.
    await this.#telling
      .look({ budget, period, account: shown, used, projectedAtMs }, atMs)
      .catch(ifAway(() => undefined));
    return isOver;
  }

  /** Whose usage of a budget is to be looked at: of one that counts for each of several, those with live sessions who have used it up. */
  async #usersOf(
    budget: Budget,
    period: Period,
    atMs: number,
  ): Promise<readonly { readonly owner: BudgetOwner; readonly used: UsageTotals }[]> {
    const { budgetUse, sessions } = this.#deps;
    const { tenantId } = budget;
    const owner = soleOwner(budget);
    if (owner !== undefined) return [{ owner, used: await this.#use.of(budget, period, owner, atMs) }];
    if (budget.period === 'session') {
      const over = await budgetUse.sessionsOver(tenantId, budget);
      const found = await Promise.all(over.map(async (one) => ({ one, record: await sessions.find(one.sessionId) })));
      return found.flatMap(({ one, record }) =>
        record !== undefined && counts(budget, record)
          ? [{ owner: { ...record, sessionId: record.id }, used: one }]
          : [],
      );
    }
    const over = await budgetUse.subjectsOver(tenantId ?? '', period.firstDay, budget);
    return over.map((one) => ({ owner: { subject: one.subject, tenantId, keyId: null, agentId: null }, used: one }));
  }
}

/** Of subjects and keys sessions hold back what they will use. */
function heldAccountOf(budget: Budget, owner: BudgetOwner): string | null {
  return ['subject', 'key'].includes(countedBy(budget)) ? accountOf(budget, owner) : null;
}

function usedUpOf(budget: Budget, period: Period, used: UsageTotals): UsedUp {
  const lever = `budget ${budget.id}`;
  const why: Why =
    budget.microDollars !== null && used.microDollars >= budget.microDollars
      ? { limit: budget.microDollars / 1_000_000, count: used.microDollars / 1_000_000, unit: 'dollars', lever }
      : { limit: budget.tokens ?? undefined, count: used.tokens, unit: 'tokens', lever };
  return { budget: named(budget, period), why };
}
