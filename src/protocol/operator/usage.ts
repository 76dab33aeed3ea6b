import { z } from 'zod';
import { keyId, subject, tenantAsked, tenantId, dollars, instant, number, percent, string, tokens } from '../fields.ts';
import { asOf, nextCursor, pageAsked } from './pagination.ts';

const usageBy = z.enum(['subject', 'tenant', 'key', 'agent', 'session']);

/** What usage is grouped by. */
export type UsageBy = z.infer<typeof usageBy>;

const usedTokens = tokens.describe('Usage, input and output together');
const usedDollars = dollars.describe('The cost');

/** How much a session, a key or anyone else used (docs/contract.md, section 8). */
export const used = z.object({ tokens: usedTokens, dollars: usedDollars });

export type Used = z.infer<typeof used>;

/** Converts amounts to what operators read. */
export function toUsed(amounts: { readonly tokens: number; readonly microDollars: number }): Used {
  return { tokens: amounts.tokens, dollars: amounts.microDollars / 1_000_000 };
}

export const usageFilters = z.object({
  by: usageBy.default('subject').describe('What each row stands for'),
  span: z.enum(['hour', 'day']).default('day').describe('The time that one entry of the series covers'),
  from: instant
    .optional()
    .describe('The start of the range; by default today, and for hours and sessions one day before `to`'),
  to: instant.optional().describe('The end of the range; by default now'),
  tenantId: tenantAsked.optional(),
  ...pageAsked,
});

const usageRow = z.object({
  id: string(
    'The id: a subject, a tenant, `<tenant>/<key id>`, `<tenant>/<agent id>`, or the ref of a session',
    'acme/site',
  ),
  tenantId: tenantId.nullable().describe('Its tenant; null if it used something in several tenants, or in none'),
  ...used.shape,
  share: number('share', 0.42, 'Its share of the total dollars, 0 to 1; of the total tokens if there is no cost'),
  ceiling: dollars
    .nullable()
    .describe('Its daily ceiling; null if it has none, or if the report is not of today alone'),
  ceilingTokens: tokens.nullable().describe('Its daily token ceiling; null when `ceiling` is'),
  projected: dollars
    .nullable()
    .describe('Its projected cost at midnight, at the pace of the last hour; null unless the report is of today alone'),
  projectedTokens: tokens.nullable().describe('Its projected usage at midnight; null when `projected` is'),
});

export type OperatorUsageRow = z.infer<typeof usageRow>;

export const usageReportReply = z.object({
  rows: z.array(usageRow).describe('The rows, highest usage first'),
  series: z
    .array(
      z.object({
        at: string(
          'A calendar day in QUOTA_TIMEZONE, or the time at which an hour begins',
          '2030-01-01',
          '2030-01-01T12:00:00.000Z',
        ),
        ...used.shape,
      }),
    )
    .describe('The whole range by days or hours, without those that had no usage'),
  total: used.describe('Total usage in the range'),
  unattributed: used.describe('Usage that is in the total but in no row of any page, for example usage without a key'),
  nextCursor,
  asOf,
});

/** What has been spent today. */
export const spend = z.object({
  ...used.shape,
  ceiling: dollars.nullable().describe('The daily ceiling of all keys in use together; null if one of them has none'),
  projected: dollars
    .nullable()
    .describe('The projected cost of today at midnight, at the pace of the last hour; null if unknown'),
  atCeiling: z
    .array(z.object({ subject, at: instant.describe('When it will reach its ceiling') }))
    .nullable()
    .describe('Subjects that will reach a ceiling before midnight, at most 20; null if unknown'),
  budgets: z
    .array(
      z.object({
        tenantId: tenantId.nullable().describe('The tenant of the budget; null for the installation'),
        id: string('The id of the budget', 'march'),
        percent: percent.describe('The share of the budget that is used'),
        at: instant.nullable().describe('When it will be used up; null if nothing is left now'),
      }),
    )
    .describe('Budgets that are used up, or will be before midnight, at most 20'),
  totals: z
    .array(
      z.object({
        tenantId: tenantId.describe('The tenant'),
        keyId: keyId.nullable().describe('The widget key with these `totals`; null for those of the tenant itself'),
        percent: percent.describe('The share of the daily ceiling that is used'),
        at: instant.nullable().describe('When it will be used up; null if nothing is left today'),
      }),
    )
    .describe(
      'Daily ceilings of widget keys and tenants (`totals`) that are used up, or will be before midnight, the most used first, at most 20',
    ),
});

export type Spend = z.infer<typeof spend>;
