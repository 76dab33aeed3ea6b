import { z } from 'zod';
import { actor, auditReason, tenantAsked, tenantId, tenantNamed } from '../fields.ts';
import { count, instant, ok } from '../values.ts';

/** An emergency stop as operators see it (docs/contract.md, section 8). */
const operatorStop = z.object({
  tenantId: tenantId.nullable().meta({ description: 'The tenant that is stopped; null for the whole installation' }),
  stoppedAt: instant.meta({ description: 'Since when nothing is opened' }),
  actor,
  reason: z
    .string()
    .nullable()
    .meta({ description: 'Why, as they said; null where they said nothing', examples: ['a key was copied'] }),
});

export type OperatorStop = z.infer<typeof operatorStop>;

const stillOpen = z
  .object({
    sessions: count.meta({ description: 'Sessions that have not ended' }),
    calls: z
      .object({
        open: count.meta({ description: 'Calls at the provider that go on, or are being opened' }),
        closing: count.meta({ description: 'Calls of which the provider has not confirmed yet that they are over' }),
      })
      .meta({ description: 'Calls at the provider' }),
  })
  .meta({ description: 'What is open now, of what is asked for; all are 0 when everything that was stopped is over' });

export const stopFilters = z.object({ tenantId: tenantAsked.optional() });

export const operatorStops = z.object({
  stops: z.array(operatorStop).meta({ description: 'What is stopped' }),
  open: stillOpen,
});

export type OperatorStops = z.infer<typeof operatorStops>;

export const stopRequest = z.strictObject({
  tenantId: tenantNamed.optional().meta({ description: 'Which tenant; the whole installation without it' }),
  reason: auditReason.meta({ description: 'Why, for the audit and for other operators' }),
});

export const stopReply = z.object({
  ok,
  stop: operatorStop.meta({ description: 'The stop that holds now' }),
  open: stillOpen,
});

export const resumeReply = z.object({
  ok,
  alreadyRunning: z.boolean().meta({ description: 'Whether there was no stop to lift' }),
});
