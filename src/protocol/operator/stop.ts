import { z } from 'zod';
import { actor, auditReason, tenantId, tenantNamed, count, instant, ok, string } from '../fields.ts';

/** An emergency stop as operators see it (docs/contract.md, section 8). */
const operatorStop = z.object({
  tenantId: tenantId.nullable().describe('The stopped tenant; null for the whole installation'),
  stoppedAt: instant.describe('When the stop took effect'),
  actor,
  reason: string('The reason given; null if none', 'a key was copied').nullable(),
});

export type OperatorStop = z.infer<typeof operatorStop>;

const stillOpen = z
  .object({
    sessions: count.describe('Open sessions'),
    calls: z
      .object({
        open: count.describe('Calls at the provider that are open or being opened'),
        closing: count.describe('Calls whose end the provider has not yet confirmed'),
      })
      .describe('Calls at the provider'),
  })
  .describe('What is open now, within the requested scope; all are 0 when everything stopped is over');

export const operatorStops = z.object({ stops: z.array(operatorStop).describe('The stops in force'), open: stillOpen });

export type OperatorStops = z.infer<typeof operatorStops>;

export const stopRequest = z.strictObject({
  tenantId: tenantNamed.optional().describe('The tenant; leave it out for the whole installation'),
  reason: auditReason.describe('The reason, for the audit and for other operators'),
});

export const stopReply = z.object({ ok, stop: operatorStop.describe('The stop now in force'), open: stillOpen });

export const resumeReply = z.object({ ok, alreadyRunning: z.boolean().describe('Whether there was no stop to lift') });
