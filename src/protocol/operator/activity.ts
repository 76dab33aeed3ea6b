import { z } from 'zod';
import { tenantAsked } from '../fields.ts';
import { count, instant, string } from '../field-types.ts';
import { asOf } from './page.ts';

const tallies = {
  started: count.describe('Sessions opened'),
  ended: z.record(z.string(), count).describe('Sessions ended, by reason'),
  refused: z.record(z.string(), count).describe('Requests refused, by code'),
};

const span = z.object({
  ...tallies,
  previous: z.object(tallies).describe('The same counts for the preceding span of equal length'),
});

const tallied = z.object(tallies);

export type ActivityTallies = z.infer<z.ZodObject<typeof tallies>>;

/** What went on in the installation (docs/contract.md, section 8). */
export const activity = z.object({
  minute: span.describe('The last whole minute'),
  hour: span
    .extend({
      usual: tallied
        .nullable()
        .describe(
          'The median of the same 60 minutes on the last seven days; null if fewer than three days are known, or if there is too much to add up',
        ),
    })
    .describe('The last 60 minutes, including the current one'),
  day: span.describe('The last 24 hours, including the current one'),
});

export type OperatorActivity = z.infer<typeof activity>;

/** GET /api/operator/activity (docs/contract.md, section 8). */
export const activityAsked = z.object({
  span: z
    .enum(['hour', 'day'])
    .default('hour')
    .meta({ description: 'The last 60 minutes by minute, or the last 24 hours by hour', examples: ['day'] }),
  tenantId: tenantAsked.optional(),
});

export const activitySeries = z.object({
  seriesBy: z.enum(['minute', 'hour']).describe('The time that one entry of the series covers'),
  series: z
    .array(
      z.object({
        at: instant.describe('When the minute or hour begins'),
        started: count.describe('Sessions opened in it'),
        ended: count.describe('Sessions ended in it'),
        refused: count.describe('Requests refused in it'),
      }),
    )
    .describe('Each minute or hour, the current one last'),
  isCounted: z
    .boolean()
    .describe('False if there is too much to add up, and then `series` is empty; ask with a `tenantId` for less'),
  asOf,
});

export type ActivitySeries = z.infer<typeof activitySeries>;

const judged = z.enum(['fine', 'degraded', 'unknown']);

export const verdict = z.object({
  us: judged.describe('The health of the service: its dependencies, its processes, its own faults'),
  provider: judged.describe('The health of the provider: `unknown` after too few requests to tell'),
  sentence: string(
    'The verdict in words, with the figures behind it',
    'Provider: 40 % of mints failed in 5 min (timeout, openai). Us: fine.',
  ),
});

export type OperatorVerdict = z.infer<typeof verdict>;
