import { z } from 'zod';
import { LAYERS } from '../refusal-why.ts';
import { keyAsked, keyId, nodeId, origin, requestId, subject, tenantAsked, tenantId } from '../fields.ts';
import { count, inUnit, instant, seconds, text } from '../values.ts';
import { asOf, nextCursor, pageAsked } from './page.ts';

/** A request that was refused (docs/contract.md, section 8). */
export const operatorRefusal = z.object({
  requestId,
  at: instant.meta({ description: 'When it was refused' }),
  code: z.string().meta({ description: 'The code that its caller was told', examples: ['RATE_LIMIT_EXCEEDED'] }),
  status: z
    .int()
    .min(0)
    .meta({ description: 'The HTTP status that its caller was told', ...inUnit('none', 429) }),
  layer: z.enum(LAYERS).meta({ description: 'Which part of the way of a request said no' }),
  route: z.string().meta({ description: 'The path that was asked for', examples: ['/api/session'] }),
  tenantId: tenantId.nullable().meta({ description: 'Whose caller it was; null where that is not known' }),
  keyId: keyId.nullable().meta({ description: 'The widget key that came with it; null where none did' }),
  subject: subject.nullable().meta({ description: 'Whose limits it counted in; null where that is not known' }),
  origin: origin.nullable().meta({ description: 'The `Origin` that it came with; null where none did' }),
  addressHash: z
    .string()
    .nullable()
    .meta({
      description: 'The keyed hash of the address, which tells that two are the same; null where it is not known',
      examples: ['1f0c8b7d2a49c3b6'],
    }),
  network: z
    .string()
    .nullable()
    .meta({ description: "The address's /24 or /48; null where it is not known", examples: ['203.0.113.0/24'] }),
  limit: z
    .number()
    .nullable()
    .meta({
      description: 'The limit that it would have exceeded, in what `sentence` says; null where none decided',
      ...inUnit('varies', 12),
    }),
  count: z
    .number()
    .nullable()
    .meta({
      description: 'How much of that was counted; null where that is not known',
      ...inUnit('varies', 12),
    }),
  retryAfter: seconds.nullable().meta({ description: 'How long its caller was told to wait; null where it was not' }),
  verdict: z
    .string()
    .nullable()
    .meta({
      description: 'What judged the caller as a bot, and how sure it was; null where nothing did',
      examples: ['heuristic 0.9'],
    }),
  lever: z
    .string()
    .nullable()
    .meta({
      description: 'The variable, or the field of a widget key, that decides; null where none does',
      examples: ['WIDGET_SESSION_PER_MIN'],
    }),
  sentence: z.string().meta({
    description: 'Why it was refused, in words, with the figures',
    examples: ['More than 12 sessions in one minute (WIDGET_SESSION_PER_MIN); the caller was told to wait 22 s.'],
  }),
  node: nodeId.nullable().meta({ description: 'The process that refused; null for who is shown some tenants only' }),
});

export type OperatorRefusal = z.infer<typeof operatorRefusal>;

const byCode = z.record(z.string(), count);

export const exactRefusal = z.object({
  found: z.literal('exact').meta({ description: 'The refusal was kept' }),
  refusal: operatorRefusal.meta({ description: 'The refusal' }),
});

/** What is known of a request of which nothing was kept: when it was made. */
export const refusalMinute = z.object({
  found: z.literal('minute').meta({ description: 'Of the refusal itself nothing was kept' }),
  node: nodeId.meta({ description: 'The process that answered the request' }),
  from: instant.meta({ description: 'The request came then or later' }),
  to: instant.meta({ description: 'The request came before this' }),
  byCode: byCode.meta({ description: 'What was refused by that process in the minutes of that time' }),
});

export const operatorRefusalPage = z.object({
  refusals: z.array(operatorRefusal).meta({ description: 'What was refused, newest first' }),
  counted: byCode.meta({ description: 'How many there were in the span, by code' }),
  kept: byCode.meta({ description: 'How many of them were kept: of a flood only the first of each second are' }),
  series: z
    .array(
      z.object({
        at: instant.meta({ description: 'Where the minute or hour begins' }),
        count: count.meta({ description: 'How many there were in it' }),
      }),
    )
    .meta({ description: 'How many there were in each minute or hour of the span in which there was one' }),
  seriesBy: z.enum(['minute', 'hour']).nullable().meta({
    description: 'Minutes for at most three hours of the last day, else hours; null where nothing is counted',
  }),
  isCounted: z.boolean().meta({
    description:
      'Whether they were counted; not where there is too much to add up, or the database is away: `counted`, `kept` and `series` are empty',
  }),
  nextCursor,
  asOf,
  searchedTo: instant
    .nullable()
    .meta({ description: 'How far was looked, where a page is short because it looked at 10,000 refusals; else null' }),
  isPartial: z.boolean().meta({ description: 'The database is away: these are what this process refused last' }),
});

export const refusalFilters = z.object({
  requestId: z
    .string()
    .max(64)
    .optional()
    .meta({ ...requestId.meta(), description: 'X-Request-Id of a reply; then nothing else is asked' }),
  code: text(64)
    .optional()
    .meta({ description: 'Only refusals with this code', examples: ['BOT_BLOCKED'] }),
  tenantId: tenantAsked.optional(),
  keyId: text(128)
    .optional()
    .meta({ ...keyAsked.meta() }),
  network: text(64)
    .optional()
    .meta({ description: 'Only refusals of this network, as `network` tells it', examples: ['203.0.113.0/24'] }),
  from: instant
    .optional()
    .meta({ description: 'Only what was refused then or later; a day before the end without it' }),
  to: instant.optional().meta({ description: 'Only what was refused before; until now without it' }),
  ...pageAsked,
});
