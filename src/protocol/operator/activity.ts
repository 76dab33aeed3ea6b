import { z } from 'zod';
import { count } from '../values.ts';

const tallies = {
  started: count.meta({ description: 'Sessions that were opened' }),
  ended: z.record(z.string(), count).meta({ description: 'Sessions that ended, by reason' }),
  refused: z.record(z.string(), count).meta({ description: 'Requests that were refused, by code' }),
};

const span = z.object({
  ...tallies,
  previous: z.object(tallies).meta({ description: 'The same of the span before, which was as long' }),
});

export type ActivityTallies = z.infer<z.ZodObject<typeof tallies>>;

/** What went on (docs/contract.md, section 8). */
export const activity = z.object({
  minute: span.meta({ description: 'The last whole minute' }),
  hour: span.meta({ description: 'The last 60 minutes, the present one among them' }),
  day: span.meta({ description: 'The last 24 hours, the present one among them' }),
});

export type OperatorActivity = z.infer<typeof activity>;

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
