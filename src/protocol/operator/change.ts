import { z } from 'zod';
import { text } from '../values.ts';

/** GET /api/operator/changes: what differs from the span of the same length before (docs/contract.md, section 8). */
export const operatorChanges = z.object({
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  previousFrom: z.iso.datetime(),
  moved: z.array(
    z.object({
      what: z.string(),
      now: z.number(),
      before: z.number(),
      factor: z.number().nullable().meta({ description: 'Null where there was none before' }),
    }),
  ),
  happened: z.array(
    z.object({
      at: z.iso.datetime(),
      kind: z.enum(['node', 'audit']),
      sentence: z.string(),
      href: z.string().nullable(),
    }),
  ),
});

export type OperatorChanges = z.infer<typeof operatorChanges>;

export const changesSince = z.object({
  since: z.iso.datetime().optional().meta({ description: 'Without it a day ago; at most 31 days ago' }),
  tenantId: text(128).optional(),
});
