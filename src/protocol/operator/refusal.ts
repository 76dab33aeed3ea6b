import { z } from 'zod';
import { LAYERS } from '../refusal-why.ts';
import { count, text } from '../values.ts';

/** A request that was refused (docs/contract.md, section 8). */
export const operatorRefusal = z.object({
  requestId: z.string(),
  at: z.iso.datetime(),
  code: z.string(),
  status: count,
  layer: z.enum(LAYERS).meta({ description: 'Which part of the way of a request said no' }),
  route: z.string(),
  tenantId: z.string().nullable(),
  keyId: z.string().nullable(),
  subject: z.string().nullable(),
  origin: z.string().nullable(),
  addressHash: z
    .string()
    .nullable()
    .meta({ description: 'The keyed hash of the address: tells that two are the same' }),
  network: z.string().nullable().meta({ description: "The address's /24 or /48" }),
  limit: z.number().nullable(),
  count: z.number().nullable(),
  retryAfter: count.nullable(),
  verdict: z.string().nullable(),
  lever: z.string().nullable().meta({ description: 'The variable, or the field of a widget key, that decides' }),
  sentence: z.string(),
  node: z.string().nullable().meta({ description: 'Null for who is shown some tenants only' }),
});

export type OperatorRefusal = z.infer<typeof operatorRefusal>;

const byCode = z.record(z.string(), count);

export const exactRefusal = z.object({ found: z.literal('exact'), refusal: operatorRefusal });

/** What is known of a request of which nothing was kept: when it was made. */
export const refusalMinute = z.object({
  found: z.literal('minute'),
  node: z.string(),
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  byCode: byCode.meta({ description: 'What was refused by that process in the minutes of that time' }),
});

export const operatorRefusalPage = z.object({
  refusals: z.array(operatorRefusal),
  counted: byCode.meta({ description: 'How many there were in the span, by code' }),
  kept: byCode.meta({ description: 'How many of them were kept: of a flood only the first of each second are' }),
  series: z
    .array(z.object({ at: z.iso.datetime(), count }))
    .meta({ description: 'How many there were in each minute or hour of the span in which there was one' }),
  seriesBy: z.enum(['minute', 'hour']).nullable().meta({
    description: 'Minutes for at most three hours of the last day, else hours; null where nothing is counted',
  }),
  isCounted: z.boolean().meta({
    description:
      'false where there is too much to add up, or the database is away: `counted`, `kept` and `series` are empty',
  }),
  nextCursor: z.string().nullable(),
  asOf: z.iso.datetime(),
  searchedTo: z.iso.datetime().nullable().meta({ description: 'Where a page ends that was searched for long' }),
  isPartial: z.boolean().meta({ description: 'The database is away: these are what this process refused last' }),
});

export const refusalFilters = z.object({
  requestId: z.string().max(64).optional().meta({ description: 'X-Request-Id of a reply; then nothing else is asked' }),
  code: text(64).optional(),
  tenantId: text(128).optional(),
  keyId: text(128).optional(),
  network: text(64).optional(),
  from: z.iso.datetime().optional().meta({ description: 'Without it a day before the end' }),
  to: z.iso.datetime().optional(),
  cursor: z.string().max(64).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});
