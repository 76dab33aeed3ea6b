import { z } from 'zod';
import { count } from '../values.ts';

const tallies = {
  started: count,
  ended: z.record(z.string(), count).meta({ description: 'By reason' }),
  refused: z.record(z.string(), count).meta({ description: 'By code' }),
};

const span = z.object({ ...tallies, previous: z.object(tallies) });

export type ActivityTallies = z.infer<z.ZodObject<typeof tallies>>;

/** What went on (docs/contract.md, section 8). */
export const activity = z.object({
  minute: span.meta({ description: 'The last whole minute' }),
  hour: span.meta({ description: 'The last 60 minutes, the present one among them' }),
  day: span.meta({ description: 'The last 24 hours, the present one among them' }),
});

export type OperatorActivity = z.infer<typeof activity>;

const judged = z.enum(['fine', 'degraded', 'unknown']);

export const verdict = z.object({ us: judged, provider: judged, sentence: z.string() });

export type OperatorVerdict = z.infer<typeof verdict>;
