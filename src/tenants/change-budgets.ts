import type { Clock } from '../kernel/time.ts';
import { idOfBudget, LIMITS_NOTHING, MAX_BUDGETS, type BudgetTerms } from '../protocol/budget.ts';
import { Refusal, wrongField } from '../protocol/refusal.ts';
import type { Budget, Budgets, NewBudget } from '../stores/budgets/contract.ts';
import type { Bus } from '../stores/bus/contract.ts';
import type { ActAction, ActRole } from '../stores/journal/act-contract.ts';
import { audited, newAct, type ActLog, type ChangedBy, type NewEntry } from '../stores/journal/contract.ts';
import type { Tenant, Tenants } from '../stores/tenants/contract.ts';
import { noTenant } from './directory.ts';
import type { FileProblem, Outline } from './file-problems.ts';

export interface BudgetDeps {
  readonly budgets: Pick<Budgets, 'all' | 'insert' | 'save' | 'delete'>;
  readonly tenants: Pick<Tenants, 'all'>;
  readonly acts: ActLog;
  readonly bus: Pick<Bus, 'publish'>;
  readonly clock: Clock;
  /** The calendar day of an instant. */
  readonly dayOf: (atMs: number) => string;
}

/** What can be changed about a budget; what is left out stays. */
export type BudgetChanges = {
  readonly [K in 'dollars' | 'tokens' | 'minutes' | 'warnAt' | 'tell']?: BudgetTerms[K] | undefined;
} & { readonly atLimit?: Budget['atLimit'] | undefined };

const MICRO = 1_000_000;

/** A budget as it is stored. @param madeBy null for the tenants file */
export function toNewBudget(
  tenantId: string | null,
  { dollars, minutes, then: atLimit, ...terms }: BudgetTerms,
  madeBy: ActRole | null,
  atMs: number,
): NewBudget {
  const amounts = { microDollars: toMicro(dollars), microMinutes: toMicro(minutes) };
  return { ...terms, ...amounts, atLimit, tenantId, madeBy, changedAtMs: atMs };
}

/** A budget in the fields in which people set it. */
export function termsOf(budget: Budget): BudgetTerms {
  const { id, of, period, from, microDollars, tokens, microMinutes, warnAt, atLimit, tell } = budget;
  return {
    id,
    of,
    period,
    from,
    dollars: microDollars === null ? null : microDollars / MICRO,
    tokens,
    minutes: microMinutes === null ? null : microMinutes / MICRO,
    warnAt,
    then: atLimit,
    tell,
  };
}

/**
 * Creates a budget of a tenant or of the installation. Every node enforces it at once, and what its period has used already counts.
 * @param tenantId null for the installation
 * @returns the budget; or a Refusal INVALID_REQUEST if what `of` names does not exist, NOT_FOUND for an unknown tenant, or CONFLICT if the id is in
 *   use or there are too many budgets
 * @throws Unavailable when the database is away
 */
export async function makeBudget(
  tenantId: string | null,
  terms: BudgetTerms,
  by: ChangedBy,
  deps: BudgetDeps,
): Promise<Budget | Refusal> {
  const tenant = (await deps.tenants.all()).find(({ id }) => id === tenantId);
  if (tenantId !== null && tenant === undefined) return noTenant(tenantId);
  const message = faultOf(terms.of, tenant && namesOf(tenant));
  if (message !== undefined) return wrongField('of', message);
  const atMs = deps.clock.now();
  const from = terms.period === 'once' ? (terms.from ?? deps.dayOf(atMs)) : null;
  const budget = { ...toNewBudget(tenantId, terms, by.role, atMs), from };
  const inserted = await audited(
    deps.acts,
    entryOf('budget.create', budget, by, atMs),
    () => deps.budgets.insert(budget, MAX_BUDGETS),
    (result) => (typeof result === 'string' ? 'failed' : 'done'),
  );
  if (inserted === 'taken')
    return new Refusal('CONFLICT', `There is a budget "${terms.id}" already; change it, or take another id.`);
  if (inserted === 'too_many')
    return new Refusal(
      'CONFLICT',
      `There are ${MAX_BUDGETS} budgets already, the most there may be; delete one first.`,
    );
  deps.bus.publish({ type: 'tenants.changed' });
  return inserted;
}

/**
 * Changes a budget. Raising it reopens at once what it had closed, and lowering it below what is used acts at once.
 * @param expectedVersion the version that was read: of two simultaneous changes one is refused, so that none is lost
 * @returns the budget as it is now; or a Refusal CONFLICT for another version, NOT_FOUND if there is none, FORBIDDEN for an admin of the tenant if
 *   somebody else made it, or INVALID_REQUEST if it would no longer limit anything
 * @throws Unavailable when the database is away
 */
export async function changeBudget(
  tenantId: string | null,
  id: string,
  { dollars, minutes, ...changes }: BudgetChanges,
  expectedVersion: number,
  by: ChangedBy,
  deps: BudgetDeps,
): Promise<Budget | Refusal> {
  const found = await findOwn(tenantId, id, by, deps);
  if (found instanceof Refusal) return found;
  if (found.version !== expectedVersion) return changedMeanwhile(found.version);
  const atMs = deps.clock.now();
  const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
  const changed: Budget = {
    ...found,
    ...given,
    ...(dollars === undefined ? {} : { microDollars: toMicro(dollars) }),
    ...(minutes === undefined ? {} : { microMinutes: toMicro(minutes) }),
    // Once somebody else has changed a budget, admins of the tenant may no longer change it.
    madeBy: by.role === 'tenant_admin' ? found.madeBy : by.role,
    version: expectedVersion + 1,
    changedAtMs: atMs,
  };
  if (changed.microDollars === null && changed.tokens === null && changed.microMinutes === null)
    return wrongField('dollars', LIMITS_NOTHING);
  const isSaved = await audited(
    deps.acts,
    entryOf('budget.change', found, by, atMs),
    () => deps.budgets.save(changed, expectedVersion),
    (saved) => (saved ? 'done' : 'failed'),
  );
  if (!isSaved) return changedMeanwhile(undefined);
  deps.bus.publish({ type: 'tenants.changed' });
  return changed;
}

/**
 * Deletes a budget.
 * @returns true; or a Refusal CONFLICT if the tenants file names it, and those of `changeBudget`
 * @throws Unavailable when the database is away
 */
export async function deleteBudget(
  tenantId: string | null,
  id: string,
  by: ChangedBy,
  deps: BudgetDeps,
): Promise<true | Refusal> {
  const found = await findOwn(tenantId, id, by, deps);
  if (found instanceof Refusal) return found;
  if (found.isInFile)
    return new Refusal('CONFLICT', 'TENANTS_FILE names this budget: take it out there first, or raise it.');
  const isDeleted = await audited(
    deps.acts,
    entryOf('budget.delete', found, by, deps.clock.now()),
    () => deps.budgets.delete(tenantId, id),
    (deleted) => (deleted ? 'done' : 'unchanged'),
  );
  deps.bus.publish({ type: 'tenants.changed' });
  return isDeleted ? true : noBudget(id);
}

/** Whether somebody may change a budget: admins of a tenant may change only those that admins of it made. */
export function mayChangeBudget({ madeBy }: Pick<Budget, 'madeBy'>, role: ActRole): boolean {
  return role !== 'tenant_admin' || madeBy === 'tenant_admin';
}

async function findOwn(
  tenantId: string | null,
  id: string,
  { role }: ChangedBy,
  { budgets }: BudgetDeps,
): Promise<Budget | Refusal> {
  const found = (await budgets.all()).find((one) => one.tenantId === tenantId && one.id === id);
  if (found === undefined) return noBudget(id);
  if (mayChangeBudget(found, role)) return found;
  return new Refusal('FORBIDDEN', 'An operator of the installation made this budget, and one has to change it.');
}

function toMicro(amount: number | null): number | null {
  return amount === null ? null : Math.round(amount * MICRO);
}

function entryOf(
  action: ActAction,
  { tenantId, id }: Pick<Budget, 'tenantId' | 'id'>,
  by: ChangedBy,
  atMs: number,
): NewEntry<'act'> {
  return newAct({ ...by, atMs, action, target: `${tenantId ?? 'installation'}/${id}`, tenantId });
}

function changedMeanwhile(version: number | undefined): Refusal {
  const now = version === undefined ? '' : `; it is at version ${version}`;
  return new Refusal(
    'CONFLICT',
    `The budget was changed since it was read${now}. Read it again, and change what you find.`,
  );
}

function noBudget(id: string): Refusal {
  return new Refusal('NOT_FOUND', `There is no budget "${id}"; GET /api/operator/budgets names those that there are.`);
}

/** The names that a budget's `of` may use. */
interface Names {
  readonly keys: readonly (string | undefined)[];
  readonly agents: readonly (string | undefined)[];
}

function namesOf({ keys, agents }: Tenant): Names {
  return { keys: keys.map(({ id }) => id), agents: agents.map(({ id }) => id) };
}

/** What is wrong with the `of` of a tenant's budget; undefined if nothing is. */
export function faultOfBudget(of: string, tenant: Tenant): string | undefined {
  return faultOf(of, namesOf(tenant));
}

/** What is wrong with a budget's `of`. @param names of its tenant; undefined for the installation */
function faultOf(of: string, names: Names | undefined): string | undefined {
  if (names === undefined)
    return of === 'installation' ? undefined : 'must be installation, or be a budget of a tenant';
  if (of === 'installation') return 'must not be installation: that is a budget of no tenant';
  const [key, agent] = [idOfBudget(of, 'key'), idOfBudget(of, 'agent')];
  if (key !== null && !names.keys.includes(key)) return `"${key}" is not a key of this tenant`;
  return agent === null || names.agents.includes(agent) ? undefined : `"${agent}" is not an agent of this tenant`;
}

/** What only shows when entries of a tenants file are compared: budget ids that are used twice, and keys and agents that do not exist. */
export function findBudgetFaults({ budgets, tenants }: Outline): FileProblem[] {
  return [
    ...faultsAt('budgets', budgets, undefined),
    ...tenants.flatMap(({ budgets: own, agents, widgetKeys }, t) => {
      const names = { agents: agents.map(({ id }) => id), keys: widgetKeys.map(({ id, key }) => id ?? key) };
      return faultsAt(`tenants[${t}].budgets`, own, names);
    }),
  ];
}

function faultsAt(place: string, budgets: Outline['budgets'], names: Names | undefined): FileProblem[] {
  return budgets.flatMap(({ id, of = '' }, at) => {
    const first = budgets.findIndex((one) => one.id === id);
    const fault = of === '' ? undefined : faultOf(of, names);
    return [
      ...(id !== undefined && first < at
        ? [{ path: `${place}[${at}].id`, message: `is the same budget id as ${place}[${first}].id` }]
        : []),
      ...(fault === undefined ? [] : [{ path: `${place}[${at}].of`, message: fault }]),
    ];
  });
}
