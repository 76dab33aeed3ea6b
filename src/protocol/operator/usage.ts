import { z } from 'zod';
import { instant, text } from '../values.ts';

const usageBy = z.enum(['subject', 'tenant', 'key', 'agent', 'session']);

/** What usage is added up by. */
export type UsageBy = z.infer<typeof usageBy>;

const tokens = z.int();
const dollars = z.number();

/** What a session, a key or anybody used (docs/contract.md, section 8). */
export const used = z.object({ tokens, dollars });

export type Used = z.infer<typeof used>;

/** Amounts as operators read them. */
export function toUsed({ tokens, microDollars }: { readonly tokens: number; readonly microDollars: number }): Used {
  return { tokens, dollars: microDollars / 1_000_000 };
}

export const usageFilters = z.object({
  by: usageBy.default('subject'),
  span: z.enum(['hour', 'day']).default('day').meta({ description: 'What the series is by' }),
  from: instant
    .optional()
    .meta({ description: 'By default the present day; for hours and sessions, a day before `to`' }),
  to: instant.optional().meta({ description: 'By default now' }),
  tenantId: text(128).optional(),
  cursor: z.string().max(512).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});

const usageRow = z.object({
  id: z.string().meta({
    description: 'A subject, a tenant, `<tenant>/<key id>`, `<tenant>/<agent id>`, or the ref of a session',
  }),
  tenantId: z.string().nullable().meta({ description: 'Null where it used as several, or as none' }),
  tokens,
  dollars,
  share: z
    .number()
    .meta({ description: 'Of the dollars in the total, 0 to 1; of its tokens, where nothing costs any' }),
  ceiling: dollars.nullable().meta({ description: 'Dollars that it may cost on a day; of today alone' }),
  ceilingTokens: tokens.nullable().meta({ description: 'Tokens that it may use on a day; of today alone' }),
  projected: dollars
    .nullable()
    .meta({ description: 'Dollars at midnight, if all goes on like the last hour; of today alone' }),
  projectedTokens: tokens.nullable(),
});

export type OperatorUsageRow = z.infer<typeof usageRow>;

export const usageReportReply = z.object({
  rows: z.array(usageRow),
  series: z.array(z.object({ at: z.string(), tokens, dollars })).meta({
    description: 'The whole range: `at` is a calendar day of QUOTA_TIMEZONE, or the instant at which an hour begins',
  }),
  total: used,
  unattributed: used.meta({
    description: 'What is in the total and in no row of any page: usage without a key, for example',
  }),
  nextCursor: z.string().nullable(),
  asOf: instant,
});

/** What today costs. */
export const spend = z.object({
  tokens,
  dollars,
  ceiling: dollars.nullable().meta({ description: 'Of all keys in use together; null where one has none' }),
  projected: dollars
    .nullable()
    .meta({ description: 'At midnight, if all goes on like the last hour; null where that is unknown' }),
  atCeiling: z
    .array(z.object({ subject: z.string(), at: instant }))
    .nullable()
    .meta({ description: 'Who reaches a ceiling before midnight, at most 20; null where that is unknown' }),
  budgets: z
    .array(
      z.object({
        tenantId: z.string().nullable().meta({ description: 'Null for the installation' }),
        id: z.string(),
        percent: z.int(),
        at: instant.nullable().meta({ description: 'When it will be used up; null where nothing is left now' }),
      }),
    )
    .meta({ description: 'Budgets of which nothing is left, or will be before midnight, at most 20' }),
});

export type Spend = z.infer<typeof spend>;
