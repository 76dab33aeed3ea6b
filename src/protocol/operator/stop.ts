import { z } from 'zod';
import { count, instant, ok, text } from '../values.ts';

/** An emergency stop as operators see it (docs/contract.md, section 8). */
const operatorStop = z.object({
  tenantId: z.string().nullable().meta({ description: 'Null for the whole installation' }),
  stoppedAt: instant,
  actor: z.string().meta({ description: 'Who stopped it; of viewers and admins addresses are masked' }),
  reason: z.string().nullable(),
});

export type OperatorStop = z.infer<typeof operatorStop>;

const stillOpen = z
  .object({
    sessions: count.meta({ description: 'Sessions that have not ended' }),
    calls: z.object({
      open: count.meta({ description: 'Calls at the provider that go on, or are being opened' }),
      closing: count.meta({ description: 'Calls of which the provider has not confirmed yet that they are over' }),
    }),
  })
  .meta({ description: 'What is open now, of what is asked for; all are 0 when everything that was stopped is over' });

export const stopFilters = z.object({ tenantId: text(128).optional() });

export const operatorStops = z.object({ stops: z.array(operatorStop), open: stillOpen });

export type OperatorStops = z.infer<typeof operatorStops>;

export const stopRequest = z.strictObject({
  tenantId: text(128).optional().meta({ description: 'The whole installation without it' }),
  reason: z.string().max(500).optional().meta({ description: 'For the audit, and for other operators' }),
});

export const stopReply = z.object({ ok, stop: operatorStop, open: stillOpen });

export const resumeReply = z.object({
  ok,
  alreadyRunning: z.boolean().meta({ description: 'Whether there was no stop to lift' }),
});
