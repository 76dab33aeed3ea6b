import { budgetMachine } from '../../../machines/budget/machine.ts';
import { budgetRecordId, reachedOf, savedState } from '../../../machines/budget/selectors.ts';
import type { BudgetEvent, BudgetFact, BudgetRecord } from '../../../machines/budget/types.ts';
import { createHost } from '../../actors/host.ts';
import { rowId } from '../../kernel/ids.ts';
import { Lru } from '../../kernel/lru.ts';
import { idOfBudget } from '../../protocol/budget.ts';
import type { Budget, BudgetStates } from '../../stores/budgets/contract.ts';
import type { FactCode, NewEntry } from '../../stores/journal/contract.ts';
import type { UsageTotals } from '../../stores/ledger/contract.ts';
import type { Period } from '../calendar.ts';
import { percentOf } from './matching.ts';

/** Accounts of which it is remembered what was told: those of users come and go. */
const MAX_REMEMBERED = 20_000;

/** How much of a budget is used by whom. */
export interface BudgetLook {
  readonly budget: Budget;
  readonly period: Period;
  /** As `accountOf` names it; of a session its ref, because its id proves its caller. */
  readonly account: string;
  readonly used: UsageTotals;
  /** When it will be used up at the present pace; null where it will not, or nobody knows. It is asked for once there is something to tell. */
  readonly projectedAtMs: () => Promise<number | null>;
}

export interface TellingDeps {
  readonly budgetStates: BudgetStates;
  readonly node: string;
}

/**
 * Tells operators of budgets: each threshold once over all nodes, because whoever saves the record first tells it, in the transaction of the
 * save. A share below the first threshold asks nothing of the database.
 */
export class BudgetTelling {
  readonly #deps: TellingDeps;
  readonly #known = new Lru<BudgetRecord>(MAX_REMEMBERED);

  constructor(deps: TellingDeps) {
    this.#deps = deps;
  }

  /** @throws Unavailable when the database is away: then the next look tells it */
  async look(look: BudgetLook, atMs: number): Promise<void> {
    const { budget, period, account, used } = look;
    const percent = percentOf(used, budget);
    const named = { tenantId: budget.tenantId, budgetId: budget.id, period: period.name, account };
    const fresh: BudgetRecord = {
      ...named,
      id: budgetRecordId(named),
      resetAtMs: period.resetAtMs,
      toldPercent: 0,
      exceededAtMs: null,
      budgetVersion: budget.version,
      version: 0,
    };
    const known = this.#known.get(fresh.id) ?? fresh;
    if (!saysMore(known, budget, percent)) return;
    const event = { type: 'USED', at: atMs, percent, warnAt: budget.warnAt, budgetVersion: budget.version } as const;
    const outcome = await this.#hostOf(fresh, { ...look, projectedAtMs: await look.projectedAtMs() }, atMs).send(
      fresh.id,
      event,
    );
    if (outcome === undefined) return;
    // What is kept stays as it was where there was nothing to tell of the version: it need not be asked for again.
    const budgetVersion = Math.max(outcome.record.budgetVersion, budget.version);
    this.#known.set(fresh.id, { ...outcome.record, budgetVersion });
  }

  /** What is kept of budgets, so that a change of them is seen also by a node that has told nothing of it. */
  remember(records: readonly BudgetRecord[]): void {
    for (const record of records) this.#known.set(record.id, record);
  }

  /** A host of one record: what is told depends on the look, which the record does not have. */
  #hostOf(fresh: BudgetRecord, look: ToldLook, atMs: number) {
    const { budgetStates, node } = this.#deps;
    let before = fresh;
    return createHost<BudgetRecord, BudgetEvent, BudgetFact>({
      machine: budgetMachine,
      stateOf: savedState,
      store: {
        async load() {
          before = (await budgetStates.load(fresh)) ?? fresh;
          return before;
        },
        save(record, expectedVersion) {
          const code = factOf(before, record);
          return budgetStates.save(record, expectedVersion, code && entryOf(code, record, look, node, atMs));
        },
      },
    });
  }
}

type ToldLook = Omit<BudgetLook, 'projectedAtMs'> & { readonly projectedAtMs: number | null };

/** Whether the machine may do something with a share: most entries pass no threshold. */
function saysMore(known: BudgetRecord, { version, warnAt }: Budget, percent: number): boolean {
  if (version !== known.budgetVersion) return version > known.budgetVersion;
  return known.exceededAtMs === null && (percent >= 100 || reachedOf(percent, warnAt) > known.toldPercent);
}

/** What the machine has just told of a record. */
function factOf(before: BudgetRecord, after: BudgetRecord): FactCode | undefined {
  if (after.exceededAtMs !== null) return before.exceededAtMs === null ? 'budget.exceeded' : undefined;
  if (before.exceededAtMs !== null) return 'budget.raised';
  return after.toldPercent > before.toldPercent ? 'budget.warned' : undefined;
}

function entryOf(
  code: FactCode,
  { toldPercent, tenantId, budgetId, period }: BudgetRecord,
  { budget, account, used, projectedAtMs }: ToldLook,
  node: string,
  atMs: number,
): NewEntry<'fact'> {
  const keyId = idOfBudget(budget.of, 'key');
  return {
    id: rowId(),
    kind: 'fact',
    atMs,
    node,
    requestId: null,
    of: { tenantId, keyId, target: `${tenantId ?? 'installation'}/${budgetId}` },
    code,
    detail: {
      of: budget.of,
      period: budget.period,
      periodName: period,
      account,
      percent: toldPercent,
      usedMicroDollars: used.microDollars,
      usedTokens: used.tokens,
      microDollars: budget.microDollars,
      tokens: budget.tokens,
      atLimit: budget.atLimit,
      projectedAtMs,
    },
  };
}
