import { z } from 'zod';
import { tenantAsked } from '../fields.ts';
import { count, instant } from '../values.ts';
import { asOf } from './page.ts';

const tallies = {
  started: count.meta({ description: 'Sessions opened' }),
  ended: z.record(z.string(), count).meta({ description: 'Sessions ended, by reason' }),
  refused: z.record(z.string(), count).meta({ description: 'Requests refused, by code' }),
};

const span = z.object({
  ...tallies,
  previous: z.object(tallies).meta({ description: 'The same counts for the preceding span of equal length' }),
});

const tallied = z.object(tallies);

export type ActivityTallies = z.infer<z.ZodObject<typeof tallies>>;

/** What went on in the installation (docs/contract.md, section 8). */
export const activity = z.object({
  minute: span.meta({ description: 'The last whole minute' }),
  hour: span
    .extend({
      usual: tallied.nullable().meta({
        description:
          'The median of the same 60 minutes on the last seven days; null if fewer than three days are known, or if there is too much to add up',
      }),
    })
    .meta({ description: 'The last 60 minutes, including the current one' }),
  day: span.meta({ description: 'The last 24 hours, including the current one' }),
});

export type OperatorActivity = z.infer<typeof activity>;

/** GET /api/operator/activity (docs/contract.md, section 8). */
export const activityAsked = z.object({
  span: z
    .enum(['hour', 'day'])
    .default('hour')
    .meta({
      description: 'The last 60 minutes by minute, or the last 24 hours by hour',
      examples: ['day'],
    }),
  tenantId: tenantAsked.optional(),
});

export const activitySeries = z.object({
  seriesBy: z.enum(['minute', 'hour']).meta({ description: 'The time that one entry of the series covers' }),
  series: z
    .array(
      z.object({
        at: instant.meta({ description: 'When the minute or hour begins' }),
        started: count.meta({ description: 'Sessions opened in it' }),
        ended: count.meta({ description: 'Sessions ended in it' }),
        refused: count.meta({ description: 'Requests refused in it' }),
      }),
    )
    .meta({ description: 'Each minute or hour, the current one last' }),
  isCounted: z.boolean().meta({
    description: 'False if there is too much to add up, and then `series` is empty; ask with a `tenantId` for less',
  }),
  asOf,
});

export type ActivitySeries = z.infer<typeof activitySeries>;

const judged = z.enum(['fine', 'degraded', 'unknown']);

export const verdict = z.object({
  us: judged.meta({ description: 'The health of the service: its dependencies, its processes, its own faults' }),
  provider: judged.meta({ description: 'The health of the provider: `unknown` after too few requests to tell' }),
  sentence: z.string().meta({
    description: 'The verdict in words, with the figures behind it',
    examples: ['Provider: 40 % of mints failed in 5 min (timeout, openai). Us: fine.'],
  }),
});

export type OperatorVerdict = z.infer<typeof verdict>;
