import { budgetMachine } from '../../machines/budget/machine.ts';
import { budgetRecordId, reachedOf, savedState } from '../../machines/budget/selectors.ts';
import type { BudgetEvent, BudgetFact, BudgetRecord } from '../../machines/budget/types.ts';
import { createHost } from '../actors/host.ts';
import { ifAway } from '../kernel/errors.ts';
import { rowId } from '../kernel/ids.ts';
import { Lru } from '../kernel/collections.ts';
import { iso, isoOrNull } from '../kernel/time.ts';
import { idOfBudget, minutesOf } from '../protocol/budget.ts';
import type { Budget, BudgetStates, BudgetTold, BudgetUse, BudgetUsed } from '../stores/budgets/contract.ts';
import type { FactCode, NewEntry } from '../stores/journal/contract.ts';
import { NOTHING_USED } from '../stores/ledger/contract.ts';
import type { Period } from '../quota/calendar.ts';
import { countedBy, scopeOf, soleOwner } from './counted-by.ts';
import { percentOf } from './used-share.ts';

/** Accounts for which it is remembered what was told; limited because users come and go. */
const MAX_REMEMBERED = 20_000;
/** Facts that are also sent by mail: the others need nobody's attention. */
const MAILED: ReadonlySet<BudgetFact['type']> = new Set(['budget.warned', 'budget.exceeded']);

/** How much an account has used of a budget. */
export interface BudgetLook {
  readonly budget: Budget;
  readonly period: Period;
  /** As `accountOf` names it; for a session its ref, because its id is a credential of its caller. */
  readonly account: string;
  readonly used: BudgetUsed;
  /** When it will be used up at the current pace; null where it will not, or nobody knows. Called only when there is something to tell. */
  readonly projectedAtMs: () => Promise<number | null>;
}

export interface BudgetAlertsDeps {
  readonly budgetStates: BudgetStates;
  readonly budgetUse: BudgetUse;
  readonly node: string;
  /** Addresses that get mail about budgets which name none; null stands for the installation. */
  readonly adminsOf: (tenantId: string | null) => readonly string[];
}

/**
 * Tells operators and webhooks about budgets, each threshold once over all nodes: the node that saves the record first tells it, in the transaction
 * of the save. A share below the first threshold needs no query.
 */
export class BudgetAlerts {
  readonly #deps: BudgetAlertsDeps;
  readonly #known = new Lru<BudgetRecord>(MAX_REMEMBERED);

  constructor(deps: BudgetAlertsDeps) {
    this.#deps = deps;
  }

  /** Whether there may be something to tell about an account: for most entries there is not. */
  hasMore(budget: Budget, period: Period, account: string, used: BudgetUsed): boolean {
    const { tenantId, id: budgetId } = budget;
    const known = this.#known.get(budgetRecordId({ tenantId, budgetId, period: period.name, account }));
    return saysMore(known, budget, percentOf(used, budget));
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
      closedAtMs: null,
      budgetVersion: budget.version,
      version: 0,
    };
    if (!saysMore(this.#known.get(fresh.id), budget, percent)) return;
    const [projectedAtMs, dearest] = await Promise.all([look.projectedAtMs(), this.#dearestOf(look)]);
    const about = { used, period, projectedAtMs, dearest };
    const host = this.#hostOf(fresh, budget, about);
    const event = { type: 'USED', at: atMs, percent, warnAt: budget.warnAt, budgetVersion: budget.version } as const;
    const outcome = await host.send(fresh.id, event);
    if (outcome === undefined) return;
    // Where there was nothing to tell, the stored record keeps its budget version: note that this version was checked.
    const budgetVersion = Math.max(outcome.record.budgetVersion, budget.version);
    this.#known.set(fresh.id, { ...outcome.record, budgetVersion });
  }

  /** Tells that a period has ended in which something was told. @param next the period after it @throws Unavailable when the database is away */
  async reset(record: BudgetRecord, budget: Budget, next: Period, atMs: number): Promise<void> {
    const about = { used: { ...NOTHING_USED, connectedMs: 0 }, period: next, projectedAtMs: null, dearest: undefined };
    const host = this.#hostOf(record, budget, about);
    await host.send(record.id, { type: 'CLOCK', at: atMs });
  }

  /**
   * The sessions that cost most in the period; the rest is told without them if they cannot be read. They are not read for budgets of each user or
   * session: `account` says whose it is, and they would be read for each of them.
   */
  async #dearestOf({ budget, period, account }: BudgetLook): Promise<Dearest | undefined> {
    if (soleOwner(budget) === undefined) return undefined;
    const of = countedBy(budget) === 'subject' ? { tenantId: budget.tenantId, subject: account } : scopeOf(budget);
    return this.#deps.budgetUse.dearestSessions(of, period.fromMs).catch(ifAway(() => undefined));
  }

  /** Remembers stored records, so that a node that has told nothing about a budget also notices when it changes. */
  remember(records: readonly BudgetRecord[]): void {
    for (const record of records) this.#known.set(record.id, record);
  }

  /** A host for one record: what is told depends on the look, which is not part of the record. */
  #hostOf(fresh: BudgetRecord, budget: Budget, about: ToldAbout) {
    const { budgetStates } = this.#deps;
    return createHost<BudgetRecord, BudgetEvent, BudgetFact>({
      machine: budgetMachine,
      stateOf: savedState,
      store: {
        load: async () => (await budgetStates.load(fresh)) ?? fresh,
        save: (record, expectedVersion) => budgetStates.save(record, expectedVersion, undefined),
      },
      // The machine emits at most one fact for each event.
      save: (record, expectedVersion, _event, [fact]) =>
        fact && budgetStates.save(record, expectedVersion, toldOf(fact, record, budget, about, this.#deps)),
    });
  }
}

/** The parts of a notice that are not in the record. */
interface ToldAbout {
  readonly used: BudgetUsed;
  readonly period: Period;
  readonly projectedAtMs: number | null;
  /** Undefined for a budget of each user or session, and where it is not known. */
  readonly dearest: Dearest | undefined;
}

type Dearest = Awaited<ReturnType<BudgetUse['dearestSessions']>>;

/** Whether the machine may have something to do for a share: most entries pass no threshold. */
function saysMore(known: BudgetRecord | undefined, { version, warnAt }: Budget, percent: number): boolean {
  if (known === undefined) return percent >= 100 || reachedOf(percent, warnAt) > 0;
  if (version !== known.budgetVersion) return version > known.budgetVersion;
  return known.exceededAtMs === null && (percent >= 100 || reachedOf(percent, warnAt) > known.toldPercent);
}

function toldOf(
  fact: BudgetFact,
  record: BudgetRecord,
  budget: Budget,
  about: ToldAbout,
  { node, adminsOf }: BudgetAlertsDeps,
): BudgetTold {
  const { type, at: atMs } = fact;
  const { used, projectedAtMs, dearest } = about;
  const { fromMs, resetAtMs } = about.period;
  const { id, of, period, microDollars, microMinutes, tokens, atLimit } = budget;
  const minutes = (count: number) => (microMinutes === null ? {} : { minutes: count });
  const data = {
    tenantId: budget.tenantId,
    budget: { id, of, period },
    account: record.account,
    percent: type === 'budget.reset' ? 0 : record.toldPercent,
    used: { tokens: used.tokens, microDollars: used.microDollars, ...minutes(minutesOf(used.connectedMs)) },
    limit: { tokens, microDollars, ...minutes((microMinutes ?? 0) / 1_000_000) },
    then: atLimit,
    since: period === 'session' ? null : iso(fromMs),
    resetAt: isoOrNull(resetAtMs),
    projectedAt: isoOrNull(projectedAtMs),
    sessions: dearest?.sessions ?? [],
    sessionsSince: isoOrNull(dearest?.sinceMs ?? null),
  };
  return {
    type,
    atMs,
    data,
    mailTo: MAILED.has(type) ? (budget.tell ?? adminsOf(budget.tenantId)) : [],
    entry: type === 'budget.reset' ? undefined : entryOf(type, record, budget, about, node, atMs),
  };
}

function entryOf(
  code: FactCode,
  { toldPercent, tenantId, budgetId, period, account }: BudgetRecord,
  budget: Budget,
  { used, projectedAtMs }: ToldAbout,
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
      ...(budget.microMinutes === null ? {} : { usedConnectedMs: used.connectedMs, microMinutes: budget.microMinutes }),
      microDollars: budget.microDollars,
      tokens: budget.tokens,
      atLimit: budget.atLimit,
      projectedAtMs,
    },
  };
}
