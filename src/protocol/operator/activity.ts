import { z } from 'zod';
import { tenantAsked } from '../fields.ts';
import { count, instant } from '../values.ts';
import { asOf } from './page.ts';

const tallies = {
  started: count.meta({ description: 'Sessions that were opened' }),
  ended: z.record(z.string(), count).meta({ description: 'Sessions that ended, by reason' }),
  refused: z.record(z.string(), count).meta({ description: 'Requests that were refused, by code' }),
};

const span = z.object({
  ...tallies,
  previous: z.object(tallies).meta({ description: 'The same of the span before, which was as long' }),
});

const tallied = z.object(tallies);

export type ActivityTallies = z.infer<z.ZodObject<typeof tallies>>;

/** What went on (docs/contract.md, section 8). */
export const activity = z.object({
  minute: span.meta({ description: 'The last whole minute' }),
  hour: span
    .extend({
      usual: tallied.nullable().meta({
        description:
          'The median of the same 60 minutes of the last seven days; null where fewer than three days are known, or there is too much to add up',
      }),
    })
    .meta({ description: 'The last 60 minutes, the present one among them' }),
  day: span.meta({ description: 'The last 24 hours, the present one among them' }),
});

export type OperatorActivity = z.infer<typeof activity>;

/** GET /api/operator/activity (docs/contract.md, section 8). */
export const activityAsked = z.object({
  span: z
    .enum(['hour', 'day'])
    .default('hour')
    .meta({
      description: 'The last 60 minutes by the minute, or the last 24 hours by the hour',
      examples: ['day'],
    }),
  tenantId: tenantAsked.optional(),
});

export const activitySeries = z.object({
  seriesBy: z.enum(['minute', 'hour']).meta({ description: 'What an entry of the series is' }),
  series: z
    .array(
      z.object({
        at: instant.meta({ description: 'When the minute or hour begins' }),
        started: count.meta({ description: 'Sessions that were opened in it' }),
        ended: count.meta({ description: 'Sessions that ended in it' }),
        refused: count.meta({ description: 'Requests that were refused in it' }),
      }),
    )
    .meta({ description: 'Each minute or hour, the present one last' }),
  isCounted: z.boolean().meta({
    description: 'Not where there is too much to add up: `series` is empty; `tenantId` makes it less',
  }),
  asOf,
});

export type ActivitySeries = z.infer<typeof activitySeries>;

const judged = z.enum(['fine', 'degraded', 'unknown']);

export const verdict = z.object({
  us: judged.meta({ description: 'How the service does: its dependencies, its processes, its own faults' }),
  provider: judged.meta({ description: 'How the provider does: `unknown` where it was asked too little to tell' }),
  sentence: z.string().meta({
    description: 'The same in words, with the figures that decided',
    examples: ['Provider: 40 % of mints failed in 5 min (timeout, openai). Us: fine.'],
  }),
});

export type OperatorVerdict = z.infer<typeof verdict>;
