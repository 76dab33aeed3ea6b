import { z } from 'zod';
import { LAYERS } from '../errors/error-row.ts';
import {
  keyAsked,
  keyId,
  nodeId,
  origin,
  requestId,
  subject,
  tenantAsked,
  tenantId,
  count,
  instant,
  integer,
  number,
  seconds,
  string,
  text,
} from '../fields.ts';
import { asOf, nextCursor, pageAsked } from './pagination.ts';

/** A request that was refused (docs/contract.md, section 8). */
export const operatorRefusal = z.object({
  requestId,
  at: instant.describe('When it was refused'),
  code: string('The code sent to its caller', 'RATE_LIMIT_EXCEEDED'),
  status: integer('none', 429, 'The HTTP status sent to its caller').min(0),
  layer: z.enum(LAYERS).describe('The stage of processing that refused the request'),
  route: string('The requested path', '/api/session'),
  tenantId: tenantId.nullable().describe('The tenant of the caller; null if unknown'),
  keyId: keyId.nullable().describe('The widget key sent with it; null if none'),
  subject: subject.nullable().describe('The subject against whose limits it counted; null if unknown'),
  origin: origin.nullable().describe('The `Origin` sent with it; null if none'),
  addressHash: string(
    'The keyed hash of the IP address, the same for the same address; null if unknown',
    '1f0c8b7d2a49c3b6',
  ).nullable(),
  network: string('The /24 or /48 network of the IP address; null if unknown', '203.0.113.0/24').nullable(),
  limit: number(
    'varies',
    12,
    'The limit that would have been exceeded, in the unit that `sentence` says; null if no limit decided',
  ).nullable(),
  count: number('varies', 12, 'How much had been counted against that limit; null if unknown').nullable(),
  retryAfter: seconds.nullable().describe('How long the caller was told to wait; null if not'),
  verdict: string(
    'The detector that judged the caller a bot, and its confidence; null if none did',
    'heuristic 0.9',
  ).nullable(),
  lever: string(
    'The variable, or the field of a widget key, that sets the limit; null if none does',
    'WIDGET_SESSION_PER_MIN',
  ).nullable(),
  sentence: string(
    'Why it was refused, in words, with the figures',
    'More than 12 sessions in one minute (WIDGET_SESSION_PER_MIN); the caller was told to wait 22 s.',
  ),
  node: nodeId.nullable().describe('The process that refused; null for users limited to some tenants'),
});

export type OperatorRefusal = z.infer<typeof operatorRefusal>;

const byCode = z.record(z.string(), count);

export const exactRefusal = z.object({
  found: z.literal('exact').describe('The refusal itself was kept'),
  refusal: operatorRefusal.describe('The refusal'),
});

/** What is known about a refused request of which no details were kept: when it was made. */
export const refusalMinute = z.object({
  found: z.literal('minute').describe('The refusal itself was not kept'),
  node: nodeId.describe('The process that answered the request'),
  from: instant.describe('The request was received at or after this time'),
  to: instant.describe('The request was received before this time'),
  byCode: byCode.describe('The refusals of that process in the minutes of that period, by code'),
});

export const operatorRefusalPage = z.object({
  refusals: z.array(operatorRefusal).describe('The refusals, newest first'),
  counted: byCode.describe('The number of refusals in the span, by code'),
  kept: byCode.describe('How many of them were kept, by code: in a flood only the first of each second are'),
  series: z
    .array(
      z.object({
        at: instant.describe('When the minute or hour begins'),
        count: count.describe('The number of refusals in it'),
      }),
    )
    .describe('The refusals in each minute or hour of the span that had any'),
  seriesBy: z
    .enum(['minute', 'hour'])
    .nullable()
    .describe('Minutes for at most three hours of the last day, otherwise hours; null if nothing was counted'),
  isCounted: z
    .boolean()
    .describe(
      'Whether the refusals were counted; false if there is too much to add up or the database is away, and then `counted`, `kept` and `series` are empty',
    ),
  nextCursor,
  asOf,
  searchedTo: instant
    .nullable()
    .describe('How far the search went, if the page is short because 10,000 refusals were read; otherwise null'),
  isPartial: z
    .boolean()
    .describe('Whether the database is away, so that these are only the latest refusals of this process'),
});

export const refusalFilters = z.object({
  requestId: z
    .string()
    .max(64)
    .optional()
    .meta({ ...requestId.meta(), description: 'The X-Request-Id of a reply; use it without other parameters' }),
  code: text(64, 'Only refusals with this code', 'BOT_BLOCKED').optional(),
  tenantId: tenantAsked.optional(),
  keyId: text(128)
    .optional()
    .meta({ ...keyAsked.meta() }),
  network: text(64, 'Only refusals of this network, in the form of `network`', '203.0.113.0/24').optional(),
  from: instant.optional().describe('Only refusals at or after this time; by default a day before the end'),
  to: instant.optional().describe('Only refusals before this time; by default until now'),
  ...pageAsked,
});
