import { z } from 'zod';
import { LAYERS } from '../refusal-why.ts';
import { keyAsked, keyId, nodeId, origin, requestId, subject, tenantAsked, tenantId } from '../fields.ts';
import { count, inUnit, instant, seconds, text } from '../values.ts';
import { asOf, nextCursor, pageAsked } from './page.ts';

/** A request that was refused (docs/contract.md, section 8). */
export const operatorRefusal = z.object({
  requestId,
  at: instant.meta({ description: 'When it was refused' }),
  code: z.string().meta({ description: 'The code sent to its caller', examples: ['RATE_LIMIT_EXCEEDED'] }),
  status: z
    .int()
    .min(0)
    .meta({ description: 'The HTTP status sent to its caller', ...inUnit('none', 429) }),
  layer: z.enum(LAYERS).meta({ description: 'The stage of processing that refused the request' }),
  route: z.string().meta({ description: 'The requested path', examples: ['/api/session'] }),
  tenantId: tenantId.nullable().meta({ description: 'The tenant of the caller; null if unknown' }),
  keyId: keyId.nullable().meta({ description: 'The widget key sent with it; null if none' }),
  subject: subject.nullable().meta({ description: 'The subject against whose limits it counted; null if unknown' }),
  origin: origin.nullable().meta({ description: 'The `Origin` sent with it; null if none' }),
  addressHash: z
    .string()
    .nullable()
    .meta({
      description: 'The keyed hash of the IP address, the same for the same address; null if unknown',
      examples: ['1f0c8b7d2a49c3b6'],
    }),
  network: z
    .string()
    .nullable()
    .meta({ description: 'The /24 or /48 network of the IP address; null if unknown', examples: ['203.0.113.0/24'] }),
  limit: z
    .number()
    .nullable()
    .meta({
      description:
        'The limit that would have been exceeded, in the unit that `sentence` says; null if no limit decided',
      ...inUnit('varies', 12),
    }),
  count: z
    .number()
    .nullable()
    .meta({
      description: 'How much had been counted against that limit; null if unknown',
      ...inUnit('varies', 12),
    }),
  retryAfter: seconds.nullable().meta({ description: 'How long the caller was told to wait; null if not' }),
  verdict: z
    .string()
    .nullable()
    .meta({
      description: 'The detector that judged the caller a bot, and its confidence; null if none did',
      examples: ['heuristic 0.9'],
    }),
  lever: z
    .string()
    .nullable()
    .meta({
      description: 'The variable, or the field of a widget key, that sets the limit; null if none does',
      examples: ['WIDGET_SESSION_PER_MIN'],
    }),
  sentence: z.string().meta({
    description: 'Why it was refused, in words, with the figures',
    examples: ['More than 12 sessions in one minute (WIDGET_SESSION_PER_MIN); the caller was told to wait 22 s.'],
  }),
  node: nodeId.nullable().meta({ description: 'The process that refused; null for users limited to some tenants' }),
});

export type OperatorRefusal = z.infer<typeof operatorRefusal>;

const byCode = z.record(z.string(), count);

export const exactRefusal = z.object({
  found: z.literal('exact').meta({ description: 'The refusal itself was kept' }),
  refusal: operatorRefusal.meta({ description: 'The refusal' }),
});

/** What is known about a refused request of which no details were kept: when it was made. */
export const refusalMinute = z.object({
  found: z.literal('minute').meta({ description: 'The refusal itself was not kept' }),
  node: nodeId.meta({ description: 'The process that answered the request' }),
  from: instant.meta({ description: 'The request was received at or after this time' }),
  to: instant.meta({ description: 'The request was received before this time' }),
  byCode: byCode.meta({ description: 'The refusals of that process in the minutes of that period, by code' }),
});

export const operatorRefusalPage = z.object({
  refusals: z.array(operatorRefusal).meta({ description: 'The refusals, newest first' }),
  counted: byCode.meta({ description: 'The number of refusals in the span, by code' }),
  kept: byCode.meta({
    description: 'How many of them were kept, by code: in a flood only the first of each second are',
  }),
  series: z
    .array(
      z.object({
        at: instant.meta({ description: 'When the minute or hour begins' }),
        count: count.meta({ description: 'The number of refusals in it' }),
      }),
    )
    .meta({ description: 'The refusals in each minute or hour of the span that had any' }),
  seriesBy: z.enum(['minute', 'hour']).nullable().meta({
    description: 'Minutes for at most three hours of the last day, otherwise hours; null if nothing was counted',
  }),
  isCounted: z.boolean().meta({
    description:
      'Whether the refusals were counted; false if there is too much to add up or the database is away, and then `counted`, `kept` and `series` are empty',
  }),
  nextCursor,
  asOf,
  searchedTo: instant.nullable().meta({
    description: 'How far the search went, if the page is short because 10,000 refusals were read; otherwise null',
  }),
  isPartial: z
    .boolean()
    .meta({ description: 'Whether the database is away, so that these are only the latest refusals of this process' }),
});

export const refusalFilters = z.object({
  requestId: z
    .string()
    .max(64)
    .optional()
    .meta({ ...requestId.meta(), description: 'The X-Request-Id of a reply; use it without other parameters' }),
  code: text(64)
    .optional()
    .meta({ description: 'Only refusals with this code', examples: ['BOT_BLOCKED'] }),
  tenantId: tenantAsked.optional(),
  keyId: text(128)
    .optional()
    .meta({ ...keyAsked.meta() }),
  network: text(64)
    .optional()
    .meta({ description: 'Only refusals of this network, in the form of `network`', examples: ['203.0.113.0/24'] }),
  from: instant
    .optional()
    .meta({ description: 'Only refusals at or after this time; by default a day before the end' }),
  to: instant.optional().meta({ description: 'Only refusals before this time; by default until now' }),
  ...pageAsked,
});
