import { z } from 'zod';
import { subject, tenantAsked, tenantId } from '../fields.ts';
import { dollars, instant, inUnit, percent, tokens } from '../values.ts';
import { asOf, nextCursor, pageAsked } from './page.ts';

const usageBy = z.enum(['subject', 'tenant', 'key', 'agent', 'session']);

/** What usage is added up by. */
export type UsageBy = z.infer<typeof usageBy>;

const usedTokens = tokens.meta({ description: 'Tokens that were used, input and output together' });
const usedDollars = dollars.meta({ description: 'What that cost' });

/** What a session, a key or anybody used (docs/contract.md, section 8). */
export const used = z.object({ tokens: usedTokens, dollars: usedDollars });

export type Used = z.infer<typeof used>;

/** Amounts as operators read them. */
export function toUsed(amounts: { readonly tokens: number; readonly microDollars: number }): Used {
  return { tokens: amounts.tokens, dollars: amounts.microDollars / 1_000_000 };
}

export const usageFilters = z.object({
  by: usageBy.default('subject').meta({ description: 'What a row is' }),
  span: z.enum(['hour', 'day']).default('day').meta({ description: 'What an entry of the series is' }),
  from: instant.optional().meta({
    description: 'Where the range begins; by default the present day, for hours and sessions a day before `to`',
  }),
  to: instant.optional().meta({ description: 'Where the range ends; by default now' }),
  tenantId: tenantAsked.optional(),
  ...pageAsked,
});

const usageRow = z.object({
  id: z.string().meta({
    description: 'A subject, a tenant, `<tenant>/<key id>`, `<tenant>/<agent id>`, or the ref of a session',
    examples: ['acme/site'],
  }),
  tenantId: tenantId.nullable().meta({ description: 'Whose it is; null where it used as several, or as none' }),
  ...used.shape,
  share: z.number().meta({
    description: 'Its part of the dollars in the total, 0 to 1; of its tokens, where nothing costs any',
    ...inUnit('share', 0.42),
  }),
  ceiling: dollars.nullable().meta({
    description: 'What it may cost on a day; null where it has no ceiling, and unless today alone is reported',
  }),
  ceilingTokens: tokens.nullable().meta({ description: 'What it may use on a day; null as `ceiling` is' }),
  projected: dollars.nullable().meta({
    description:
      'What it will have cost at midnight, if all goes on like the last hour; null unless today alone is reported',
  }),
  projectedTokens: tokens
    .nullable()
    .meta({ description: 'What it will have used at midnight; null as `projected` is' }),
});

export type OperatorUsageRow = z.infer<typeof usageRow>;

export const usageReportReply = z.object({
  rows: z.array(usageRow).meta({ description: 'Those that used most, first' }),
  series: z
    .array(
      z.object({
        at: z.string().meta({
          description: 'A calendar day of QUOTA_TIMEZONE, or the instant at which an hour begins',
          examples: ['2030-01-01', '2030-01-01T12:00:00.000Z'],
        }),
        ...used.shape,
      }),
    )
    .meta({ description: 'The whole range by days or hours, without those that have no usage' }),
  total: used.meta({ description: 'What was used in the range in all' }),
  unattributed: used.meta({
    description: 'What is in the total and in no row of any page: usage without a key, for example',
  }),
  nextCursor,
  asOf,
});

/** What today costs. */
export const spend = z.object({
  ...used.shape,
  ceiling: dollars
    .nullable()
    .meta({ description: 'What all keys in use may cost together in a day; null where one has no ceiling' }),
  projected: dollars.nullable().meta({
    description: 'What today will have cost at midnight, if all goes on like the last hour; null where that is unknown',
  }),
  atCeiling: z
    .array(z.object({ subject, at: instant.meta({ description: 'When it reaches its ceiling' }) }))
    .nullable()
    .meta({ description: 'Who reaches a ceiling before midnight, at most 20; null where that is unknown' }),
  budgets: z
    .array(
      z.object({
        tenantId: tenantId.nullable().meta({ description: 'Whose budget; null for the installation' }),
        id: z.string().meta({ description: 'The id of the budget', examples: ['march'] }),
        percent: percent.meta({ description: 'How much of it is used' }),
        at: instant.nullable().meta({ description: 'When it will be used up; null where nothing is left now' }),
      }),
    )
    .meta({ description: 'Budgets of which nothing is left, or will be before midnight, at most 20' }),
});

export type Spend = z.infer<typeof spend>;
