import { z } from 'zod';
import { budgetChanges, budgetFields, checkBudget, minutesOf } from '../budget.ts';
import { count, instant, ok, text } from '../values.ts';
import { toUsed, used } from './usage.ts';

const reason = z.string().max(500).optional().meta({ description: 'For the audit' });
const tenantId = text(128)
  .optional()
  .meta({ description: 'Without it the installation; for the list all that are shown' });

const fields = z.object(budgetFields);

/** What is used of a budget. */
const budgetUsed = used.extend({
  minutes: z
    .number()
    .optional()
    .meta({ description: 'Connected minutes, of a budget that has `minutes`; at most 6 decimals' }),
});

/** Amounts of a budget as operators read them. @param connectedMs null for a budget without minutes */
export function toBudgetUsed(
  usage: Parameters<typeof toUsed>[0],
  connectedMs: number | null,
): z.infer<typeof budgetUsed> {
  return connectedMs === null ? toUsed(usage) : { ...toUsed(usage), minutes: minutesOf(connectedMs) };
}

/** A budget as operators see it (docs/contract.md, section 8). */
export const operatorBudget = fields.extend({
  tenantId: z.string().nullable().meta({ description: 'Null for a budget of the installation' }),
  version: count.meta({ description: 'To be sent with a change: of two at once one is refused' }),
  madeBy: z.string().nullable().meta({ description: 'The role of who made it; null for the tenants file' }),
  isInFile: z.boolean().meta({ description: 'Whether TENANTS_FILE names it: then it cannot be deleted here' }),
  mayChange: z.boolean().meta({ description: 'Whether whoever asks may change and delete it' }),
  changedAt: instant,
  periodName: z
    .string()
    .meta({ description: 'The present one: a day, a week such as `2030-W05`, a month, `once`, `session`' }),
  firstDay: z.string().meta({ description: 'The first day that counts, in QUOTA_TIMEZONE' }),
  resetAt: instant.nullable().meta({ description: 'When it begins anew; null where it does not' }),
  used: budgetUsed
    .nullable()
    .meta({ description: 'Null where it counts for each user or session of several, and while it cannot be read' }),
  percent: count.nullable().meta({ description: 'Of the limit that is used most; 100 or more where nothing is left' }),
  projectedAt: instant.nullable().meta({
    description: 'When it will be used up, if all goes on as in the last one to two hours; null where it will not',
  }),
  told: z
    .array(
      z.object({
        account: z
          .string()
          .meta({ description: 'Whose usage it is: a subject, or the ref of a session, where it counts for each' }),
        percent: count,
        exceededAt: instant.nullable(),
      }),
    )
    .meta({ description: 'What operators were told of in this period, the highest first, at most 20' }),
});

export type OperatorBudget = z.infer<typeof operatorBudget>;

const budgetFact = z.object({
  at: instant,
  code: z.enum(['budget.warned', 'budget.exceeded', 'budget.raised']),
  tenantId: z.string().nullable(),
  id: z.string().meta({ description: 'Of the budget' }),
  periodName: z.string(),
  account: z.string(),
  percent: count.meta({ description: 'The threshold that was told; 100 where nothing is left' }),
  used: budgetUsed,
});

export type BudgetFactRow = z.infer<typeof budgetFact>;

export const budgetFilters = z.object({ tenantId });

export const operatorBudgets = z.object({
  budgets: z.array(operatorBudget),
  facts: z.array(budgetFact).meta({ description: 'What was told of budgets, the newest first, at most 50' }),
  tenants: z
    .array(z.object({ id: z.string(), name: z.string(), keys: z.array(z.string()), agents: z.array(z.string()) }))
    .meta({ description: 'What budgets may be of' }),
  asOf: instant,
});

export const makeBudgetRequest = z.strictObject({ tenantId, ...budgetFields, reason }).superRefine(checkBudget);

export const changeBudgetRequest = z.strictObject({
  version: count.meta({ description: 'As it was read' }),
  ...budgetChanges.shape,
  reason,
});

export const budgetReply = z.object({ budget: operatorBudget });

export const deleteBudgetFilters = z.object({ tenantId, reason: text(500).optional() });

export const deleteBudgetReply = z.object({ ok });
