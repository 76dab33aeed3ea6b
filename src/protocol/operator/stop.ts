import { z } from 'zod';
import { actor, auditReason, tenantAsked, tenantId, tenantNamed } from '../fields.ts';
import { count, instant, ok } from '../values.ts';

/** An emergency stop as operators see it (docs/contract.md, section 8). */
const operatorStop = z.object({
  tenantId: tenantId.nullable().meta({ description: 'The stopped tenant; null for the whole installation' }),
  stoppedAt: instant.meta({ description: 'When the stop took effect' }),
  actor,
  reason: z
    .string()
    .nullable()
    .meta({ description: 'The reason given; null if none', examples: ['a key was copied'] }),
});

export type OperatorStop = z.infer<typeof operatorStop>;

const stillOpen = z
  .object({
    sessions: count.meta({ description: 'Open sessions' }),
    calls: z
      .object({
        open: count.meta({ description: 'Calls at the provider that are open or being opened' }),
        closing: count.meta({ description: 'Calls whose end the provider has not yet confirmed' }),
      })
      .meta({ description: 'Calls at the provider' }),
  })
  .meta({ description: 'What is open now, within the requested scope; all are 0 when everything stopped is over' });

export const stopFilters = z.object({ tenantId: tenantAsked.optional() });

export const operatorStops = z.object({
  stops: z.array(operatorStop).meta({ description: 'The stops in force' }),
  open: stillOpen,
});

export type OperatorStops = z.infer<typeof operatorStops>;

export const stopRequest = z.strictObject({
  tenantId: tenantNamed.optional().meta({ description: 'The tenant; leave it out for the whole installation' }),
  reason: auditReason.meta({ description: 'The reason, for the audit and for other operators' }),
});

export const stopReply = z.object({
  ok,
  stop: operatorStop.meta({ description: 'The stop now in force' }),
  open: stillOpen,
});

export const resumeReply = z.object({
  ok,
  alreadyRunning: z.boolean().meta({ description: 'Whether there was no stop to lift' }),
});
