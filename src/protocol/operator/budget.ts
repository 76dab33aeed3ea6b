import { z } from 'zod';
import { budgetChanges, budgetFields, checkBudget, minutesOf } from '../budget.ts';
import { agentId, auditReason, keyId, namedTenant, tenantId as tenantIdField, tenantNamed } from '../fields.ts';
import { inUnit, instant, ok, ordinal, percent, text } from '../values.ts';
import { asOf } from './page.ts';
import { toUsed, used } from './usage.ts';

const tenantId = tenantNamed.optional().meta({ description: 'Whose budget it is; without it of the installation' });

const fields = z.object(budgetFields);

/** What is used of a budget. */
const budgetUsed = used.extend({
  minutes: z
    .number()
    .optional()
    .meta({ description: 'Connected minutes, of a budget that has `minutes`', ...inUnit('minutes', 41.5) }),
});

/** Amounts of a budget as operators read them. @param connectedMs null for a budget without minutes */
export function toBudgetUsed(
  usage: Parameters<typeof toUsed>[0],
  connectedMs: number | null,
): z.infer<typeof budgetUsed> {
  return connectedMs === null ? toUsed(usage) : { ...toUsed(usage), minutes: minutesOf(connectedMs) };
}

const periodName = z.string().meta({
  description: 'The period: a day, a week such as `2030-W05`, a month, `once`, `session`',
  examples: ['2030-W05'],
});

const account = z.string().meta({
  description:
    'Whose usage counts: `tenant:ID`, `key:TENANT:ID`, `agent:TENANT:ID`, `installation`, a subject, or a session’s ref',
  examples: ['tenant:acme'],
});

/** A budget as operators see it (docs/contract.md, section 8). */
export const operatorBudget = fields.extend({
  tenantId: tenantIdField.nullable().meta({ description: 'Whose it is; null for a budget of the installation' }),
  version: ordinal.meta({ description: 'To be sent with a change: of two at once one is refused' }),
  madeBy: z
    .string()
    .nullable()
    .meta({ description: 'The role of who made it; null for the tenants file', examples: ['operator'] }),
  isInFile: z.boolean().meta({ description: 'Whether TENANTS_FILE names it: then it cannot be deleted here' }),
  mayChange: z.boolean().meta({ description: 'Whether whoever asks may change and delete it' }),
  changedAt: instant.meta({ description: 'When it was changed last' }),
  periodName,
  firstDay: z.string().meta({ description: 'The first day that counts, in QUOTA_TIMEZONE', examples: ['2030-01-28'] }),
  resetAt: instant.nullable().meta({ description: 'When it begins anew; null where it does not' }),
  used: budgetUsed.nullable().meta({
    description:
      'What is used in this period; null where it counts for each user or session of several, and while it cannot be read',
  }),
  percent: percent.nullable().meta({
    description:
      'How much is used of the limit that is used most; 100 or more where nothing is left, null where `used` is',
  }),
  projectedAt: instant.nullable().meta({
    description: 'When it will be used up, if all goes on as in the last one to two hours; null where it will not',
  }),
  told: z
    .array(
      z.object({
        account,
        percent: percent.meta({ description: 'The highest threshold that was told' }),
        exceededAt: instant.nullable().meta({ description: 'When it was used up; null where something is left' }),
      }),
    )
    .meta({ description: 'What operators were told of in this period, the highest first, at most 20' }),
});

export type OperatorBudget = z.infer<typeof operatorBudget>;

const budgetFact = z.object({
  at: instant.meta({ description: 'When it happened' }),
  code: z.enum(['budget.warned', 'budget.exceeded', 'budget.raised']).meta({
    description: 'A threshold was reached, nothing was left, or one that was used up has something left again',
  }),
  tenantId: tenantIdField.nullable().meta({ description: 'Whose budget; null for the installation' }),
  id: z.string().meta({ description: 'The id of the budget', examples: ['march'] }),
  periodName,
  account,
  percent: percent.meta({ description: 'The threshold that was told; 100 where nothing is left' }),
  used: budgetUsed.meta({ description: 'What was used then' }),
});

export type BudgetFactRow = z.infer<typeof budgetFact>;

export const budgetFilters = z.object({
  tenantId: tenantNamed.optional().meta({ description: 'Only budgets of this tenant; all that are shown without it' }),
});

export const budgetOf = z.object({ tenantId });

export const operatorBudgets = z.object({
  budgets: z.array(operatorBudget).meta({ description: 'The budgets, and what is used of them' }),
  facts: z.array(budgetFact).meta({ description: 'What was told of budgets, the newest first, at most 50' }),
  tenants: z
    .array(
      z.object({
        ...namedTenant.shape,
        keys: z.array(keyId).meta({ description: 'The ids of its keys' }),
        agents: z.array(agentId).meta({ description: 'The ids of its agents' }),
      }),
    )
    .meta({ description: 'What budgets may be of' }),
  asOf,
});

export const makeBudgetRequest = z
  .strictObject({ ...budgetFields, tenantId, reason: auditReason })
  .superRefine(checkBudget);

export const changeBudgetRequest = z.strictObject({
  version: ordinal.meta({ description: 'The version that is changed, as it was read' }),
  ...budgetChanges.shape,
  reason: auditReason,
});

export const budgetReply = z.object({ budget: operatorBudget.meta({ description: 'The budget as it is now' }) });

export const deleteBudgetFilters = z.object({
  tenantId,
  reason: text(500)
    .optional()
    .meta({ ...auditReason.meta() }),
});

export const deleteBudgetReply = z.object({ ok });
