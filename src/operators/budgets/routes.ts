import { z } from 'zod';
import { iso, isoOrNull } from '../../kernel/time.ts';
import {
  addressOfUser,
  budgetFilters,
  budgetOf,
  budgetReply,
  changeBudgetRequest,
  deleteBudgetFilters,
  makeBudgetRequest,
  operatorBudgets,
  toBudgetUsed,
  type BudgetFactRow,
  type OperatorBudget,
} from '../../protocol/operator/budget.ts';
import { Refusal } from '../../protocol/refusal.ts';
import type { BudgetRecord } from '../../../machines/budget/types.ts';
import type { Budget } from '../../stores/budgets/contract.ts';
import type { ActRole } from '../../stores/journal/act-contract.ts';
import type { Entry } from '../../stores/journal/contract.ts';
import { changeBudget, deleteBudget, makeBudget, mayChangeBudget, termsOf } from '../../tenants/change-budgets.ts';
import type { Route } from '../../http/route.ts';
import type { Services } from '../../http/services.ts';
import { actorSeenBy, mayDo, seesTenant, seesWholeIds, within, type Operator } from '../roles.ts';
import { act } from '../journal/acts.ts';
import { actBy, operatorRoute, scopeOf } from '../operator-route.ts';
import { done, string } from '../../protocol/fields.ts';

const MAX_TOLD = 20;
const MAX_FACTS = 50;
const NAME_A_TENANT = 'Name a tenantId: budgets of the installation are made by its operators.';

const exampleBudget: OperatorBudget = {
  id: 'march',
  tenantId: 'acme',
  of: 'tenant',
  period: 'month',
  from: null,
  dollars: 2000,
  tokens: null,
  minutes: null,
  warnAt: [50, 80, 95],
  then: 'end',
  tell: ['ops@acme.example'],
  version: 3,
  madeBy: 'operator',
  isInFile: false,
  mayChange: true,
  changedAt: '2030-03-01T08:00:00.000Z',
  periodName: '2030-03',
  firstDay: '2030-03-01',
  resetAt: '2030-04-01T00:00:00.000Z',
  used: { tokens: 40_120_000, dollars: 1243.5 },
  percent: 62,
  projectedAt: '2030-03-29T11:00:00.000Z',
  told: [{ account: 'tenant:acme', percent: 50, exceededAt: null }],
};

export function budgetsRoute(services: Services): Route {
  return operatorRoute({
    method: 'GET',
    path: '/api/operator/budgets',
    operationId: 'listBudgets',
    summary: 'List budgets, what was used of them, and what operators were told about them',
    description: 'Daily ceilings are not included: those of keys and tenants are at GET /api/operator/keys.',
    query: budgetFilters,
    reply: {
      description: 'The budgets, those of the installation first',
      schema: operatorBudgets,
      example: {
        budgets: [exampleBudget],
        facts: [
          {
            at: '2030-03-14T09:12:00.000Z',
            code: 'budget.warned',
            tenantId: 'acme',
            id: 'march',
            periodName: '2030-03',
            account: 'tenant:acme',
            percent: 50,
            used: { tokens: 32_000_000, dollars: 1000.02 },
          },
        ],
        tenants: [{ id: 'acme', name: 'Acme', keys: ['site'], agents: ['support'] }],
        asOf: '2030-03-18T12:00:00.000Z',
      },
    },
    async handle(call, { tenantId }) {
      const { atMs } = call.request;
      const operator = within(call.operator, tenantId);
      const seen = services.tenants.allBudgets().filter((budget) => seesTenant(operator, budget.tenantId));
      const [budgets, facts] = await Promise.all([
        Promise.all(seen.map((budget) => toOperatorBudget(budget, call.operator, atMs, services))),
        factsFor(operator, services),
      ]);
      const tenants = services.tenants
        .all()
        .flatMap(({ id, name, keys, agents }) =>
          seesTenant(operator, id)
            ? [{ id, name, keys: keys.filter(isInUse).map((key) => key.id), agents: agents.map((agent) => agent.id) }]
            : [],
        );
      return { budgets, facts, tenants, asOf: iso(atMs) };
    },
  });
}

export function makeBudgetRoute(services: Services): Route {
  return operatorRoute({
    method: 'POST',
    path: '/api/operator/budgets',
    operationId: 'makeBudget',
    summary: 'Create a budget of a tenant, or of the installation',
    description:
      'Every node applies it within a second, and usage from earlier in its period counts. Admins of tenants can only create budgets of their own tenants.',
    right: 'change',
    body: makeBudgetRequest,
    bodyExample: { tenantId: 'acme', id: 'march', of: 'tenant', period: 'month', dollars: 2000, warnAt: [50, 80, 95] },
    reply: { status: 201, description: 'The budget', schema: budgetReply, example: { budget: exampleBudget } },
    refusals: ['NOT_FOUND', 'CONFLICT'],
    find: (call) => scopeOf(call.operator, call.body.tenantId, NAME_A_TENANT),
    async handle(call, _query, scope) {
      const { tenantId: _, reason: _reason, ...terms } = call.body;
      const of = scope === null ? terms.of : await ofStored(scope, terms.of, call, services);
      if (of instanceof Refusal) return of;
      const made = await makeBudget(scope, { ...terms, of }, actBy(call), services.operators.budgetDeps);
      return made instanceof Refusal ? made : await replyOf(made, call, services);
    },
  });
}

/**
 * A visitor who is named by address is stored as a subject, as usage is counted (docs/contract.md, section 4.3). The reply tells whose sessions are
 * this person's, so the audit has it as a search for the address.
 * @returns a Refusal FORBIDDEN for whoever may not look for somebody by address
 */
async function ofStored(
  tenantId: string,
  of: string,
  call: Parameters<typeof actBy>[0],
  services: Services,
): Promise<string | Refusal> {
  const { subjects } = services.identity;
  const address = addressOfUser(of);
  if (address === undefined) return of;
  if (!seesWholeIds(call.operator))
    return new Refusal(
      'FORBIDDEN',
      'A visitor is named by address by operators (OPERATOR_EMAILS) alone: give user:SUBJECT.',
    );
  const target = subjects.console(address);
  return act(
    { action: 'search.address', target, tenantId: null },
    actBy(call),
    services,
    () => `user:${subjects.widgetUser(tenantId, address)}`,
  );
}

const budgetParams = z.object({ id: string('The id of the budget in its tenant', 'march') });

export function changeBudgetRoute(services: Services): Route {
  return operatorRoute({
    method: 'PATCH',
    path: '/api/operator/budgets/{id}',
    operationId: 'changeBudget',
    summary: 'Raise, lower or change a budget',
    description:
      'Raising it allows new sessions again within a second; lowering it below what was used ends sessions. If `version` is not the current one, the reply is CONFLICT and nothing changes: read the budget again, so that nobody else’s change is lost.',
    params: budgetParams,
    right: 'change',
    query: budgetOf,
    body: changeBudgetRequest,
    bodyExample: { version: 3, dollars: 2500 },
    reply: { description: 'The budget as it is now', schema: budgetReply, example: { budget: exampleBudget } },
    refusals: ['NOT_FOUND', 'CONFLICT'],
    find: (call, { tenantId }) => scopeOf(call.operator, tenantId, NAME_A_TENANT),
    async handle(call, _query, scope) {
      const { version, reason: _, then: atLimit, ...changes } = call.body;
      const [id = ''] = call.params;
      const changed = await changeBudget(
        scope,
        id,
        { ...changes, atLimit },
        version,
        actBy(call),
        services.operators.budgetDeps,
      );
      return changed instanceof Refusal ? changed : await replyOf(changed, call, services);
    },
  });
}

export function deleteBudgetRoute(services: Services): Route {
  return operatorRoute({
    method: 'DELETE',
    path: '/api/operator/budgets/{id}',
    operationId: 'deleteBudget',
    summary: 'Delete a budget',
    description:
      'What it had blocked is possible again within a second. For a budget that TENANTS_FILE has the reply is CONFLICT: remove it from the file first.',
    params: budgetParams,
    right: 'change',
    query: deleteBudgetFilters,
    reply: { description: 'The budget was deleted', schema: done, example: { ok: true } },
    refusals: ['NOT_FOUND', 'CONFLICT'],
    find: (call, { tenantId }) => scopeOf(call.operator, tenantId, NAME_A_TENANT),
    async handle(call, { reason = null }, scope) {
      const [id = ''] = call.params;
      const deleted = await deleteBudget(scope, id, { ...actBy(call), reason }, services.operators.budgetDeps);
      if (deleted instanceof Refusal) return deleted;
      await services.tenants.catchUp();
      return { ok: true };
    },
  });
}

async function replyOf(
  budget: Budget,
  { operator, request }: { readonly operator: Operator; readonly request: { readonly atMs: number } },
  services: Services,
) {
  await services.tenants.catchUp();
  return { budget: await toOperatorBudget(budget, operator, request.atMs, services) };
}

async function toOperatorBudget(
  budget: Budget,
  operator: Operator,
  atMs: number,
  { usage, core: { stores } }: Services,
): Promise<OperatorBudget> {
  const { tenantId, version, madeBy, isInFile, changedAtMs } = budget;
  const standing = await usage.budgetLimits.standingOf(budget, atMs);
  const { period, used, percent, projectedAtMs } = standing;
  const mayChange = mayDo(operator.role, 'change') && mayChangeBudget(budget, operator.role as ActRole);
  const told = await stores.budgetStates.ofBudget(tenantId, budget.id, period.name, MAX_TOLD);
  return {
    ...termsOf(budget),
    warnAt: [...budget.warnAt],
    tenantId,
    version,
    madeBy,
    isInFile,
    mayChange,
    tell: budget.tell?.map((address) => (mayChange ? address : actorSeenBy(operator, address))) ?? null,
    changedAt: iso(changedAtMs),
    periodName: period.name,
    firstDay: period.firstDay,
    resetAt: isoOrNull(period.resetAtMs),
    used: used === undefined ? null : toBudgetUsed(used, budget.microMinutes === null ? null : used.connectedMs),
    percent: percent ?? null,
    projectedAt: isoOrNull(projectedAtMs),
    told: told.map(toToldRow),
  };
}

function toToldRow({ account, toldPercent, exceededAtMs }: BudgetRecord): OperatorBudget['told'][number] {
  return { account, percent: toldPercent, exceededAt: isoOrNull(exceededAtMs) };
}

async function factsFor({ tenants }: Operator, { core: { stores } }: Services): Promise<BudgetFactRow[]> {
  const { entries } = await stores.journal.list({ kinds: ['fact'], tenants }, undefined, MAX_FACTS);
  return entries.map(toFactRow);
}

function toFactRow({ atMs, code, of, detail }: Entry<'fact'>): BudgetFactRow {
  const { periodName, account, percent, usedTokens, usedMicroDollars, usedConnectedMs } = detail;
  const target = of.target ?? '';
  return {
    at: iso(atMs),
    code,
    tenantId: of.tenantId ?? null,
    id: target.slice(target.indexOf('/') + 1),
    periodName: String(periodName),
    account: String(account),
    percent: Number(percent),
    used: toBudgetUsed(
      { tokens: Number(usedTokens), microDollars: Number(usedMicroDollars) },
      usedConnectedMs === undefined ? null : Number(usedConnectedMs),
    ),
  };
}

function isInUse({ revokedAtMs }: { readonly revokedAtMs: number | null }): boolean {
  return revokedAtMs === null;
}
