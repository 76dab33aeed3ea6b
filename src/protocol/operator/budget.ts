import { z } from 'zod';
import { budgetChanges, budgetFields, checkBudget, idOfBudget, minutesOf, OF } from '../budget.ts';
import { parseEmail } from '../email.ts';
import {
  agentId,
  auditReason,
  keyId,
  namedTenant,
  reasonAsked,
  tenantId as tenantIdField,
  tenantNamed,
  instant,
  number,
  ordinal,
  percent,
  string,
  wanted,
} from '../fields.ts';
import { asOf } from './pagination.ts';
import { toUsed, used } from './usage.ts';

const tenantId = tenantNamed
  .optional()
  .describe('The tenant of the budget; leave it out for a budget of the installation');

const fields = z.object(budgetFields);

const OF_ASKED = 'installation, tenant, key:ID, agent:ID, user, user:SUBJECT or user:ADDRESS';

/** How much of a budget is used. */
const budgetUsed = used.extend({
  minutes: number('minutes', 41.5, 'Connected time, if the budget has `minutes`').optional(),
});

/** Converts the usage of a budget to what operators read. @param connectedMs null for a budget without minutes */
export function toBudgetUsed(
  usage: Parameters<typeof toUsed>[0],
  connectedMs: number | null,
): z.infer<typeof budgetUsed> {
  return connectedMs === null ? toUsed(usage) : { ...toUsed(usage), minutes: minutesOf(connectedMs) };
}

const periodName = string('The period: a day, a week such as `2030-W05`, a month, `once`, `session`', '2030-W05');

const account = string(
  'Whose usage counts: `tenant:ID`, `key:TENANT:ID`, `agent:TENANT:ID`, `installation`, a subject, or a session’s ref',
  'tenant:acme',
);

/** A budget as operators see it (docs/contract.md, section 8). */
export const operatorBudget = fields.extend({
  tenantId: tenantIdField.nullable().describe('The tenant of the budget; null for a budget of the installation'),
  version: ordinal.describe('Send it with a change: of two concurrent changes one is refused'),
  madeBy: string('The role of its creator; null if it comes from the tenants file', 'operator').nullable(),
  isInFile: z.boolean().describe('Whether TENANTS_FILE has it: it then cannot be deleted here'),
  mayChange: z.boolean().describe('Whether you may change and delete it'),
  changedAt: instant.describe('When it was last changed'),
  periodName,
  firstDay: string('The first day that counts, in QUOTA_TIMEZONE', '2030-01-28'),
  resetAt: instant.nullable().describe('When its next period starts; null if there is none'),
  used: budgetUsed
    .nullable()
    .describe(
      'What was used in this period; null if it counts separately for each of several users or sessions, and while it cannot be read',
    ),
  percent: percent
    .nullable()
    .describe(
      'The share used of the limit that is closest to being used up; 100 or more if nothing is left, null if `used` is',
    ),
  projectedAt: instant
    .nullable()
    .describe(
      'When it will be used up at the pace of the last one to two hours; null if it will not be in this period',
    ),
  told: z
    .array(
      z.object({
        account,
        percent: percent.describe('The highest threshold that operators were told of'),
        exceededAt: instant.nullable().describe('When it was used up; null if something is left'),
      }),
    )
    .describe('What operators were told in this period, the highest threshold first, at most 20'),
});

export type OperatorBudget = z.infer<typeof operatorBudget>;

const budgetFact = z.object({
  at: instant.describe('When it happened'),
  code: z
    .enum(['budget.warned', 'budget.exceeded', 'budget.raised'])
    .describe(
      'What happened: a threshold was reached, the budget was used up, or a used-up budget has something left again',
    ),
  tenantId: tenantIdField.nullable().describe('The tenant of the budget; null for the installation'),
  id: string('The id of the budget', 'march'),
  periodName,
  account,
  percent: percent.describe('The threshold; 100 if nothing was left'),
  used: budgetUsed.describe('What had been used at that time'),
});

export type BudgetFactRow = z.infer<typeof budgetFact>;

export const budgetFilters = z.object({
  tenantId: tenantNamed.optional().describe('Only budgets of this tenant; by default all that you may see'),
});

export const budgetOf = z.object({ tenantId });

export const operatorBudgets = z.object({
  budgets: z.array(operatorBudget).describe('The budgets, with what was used of them'),
  facts: z.array(budgetFact).describe('What operators were told about budgets, newest first, at most 50'),
  tenants: z
    .array(
      z.object({
        ...namedTenant.shape,
        keys: z.array(keyId).describe('The ids of the tenant’s keys'),
        agents: z.array(agentId).describe('The ids of the tenant’s agents'),
      }),
    )
    .describe('The tenants, keys and agents that can have budgets'),
  asOf,
});

/** Whose usage counts; a user may also be named by address here, which is never stored. */
const ofAsked = z
  .string(wanted(OF_ASKED))
  .refine((of) => OF.test(of) || addressOfUser(of) !== undefined, `must be ${OF_ASKED}`)
  .meta({
    description:
      'Whose usage counts: `installation`, `tenant`, `key:ID`, `agent:ID`, `user` (each user separately), `user:SUBJECT`, or `user:ADDRESS`: the visitor of the tenant with this e-mail address, who is stored as a subject; not for admins of tenants',
    examples: ['tenant', 'key:site', 'user:ada@example.com'],
  });

/** The e-mail address that `user:ADDRESS` names; undefined for everything else. */
export function addressOfUser(of: string): string | undefined {
  return parseEmail(idOfBudget(of, 'user') ?? '');
}

export const makeBudgetRequest = z
  .strictObject({ ...budgetFields, of: ofAsked, tenantId, reason: auditReason })
  .superRefine(checkBudget);

export const changeBudgetRequest = z.strictObject({
  version: ordinal.describe('The version on which the change is based, as it was read'),
  ...budgetChanges.shape,
  reason: auditReason,
});

export const budgetReply = z.object({ budget: operatorBudget.describe('The budget as it is now') });

export const deleteBudgetFilters = z.object({ tenantId, reason: reasonAsked });
