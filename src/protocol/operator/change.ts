import { z } from 'zod';
import { tenantAsked } from '../fields.ts';
import { instant, inUnit } from '../values.ts';

/** GET /api/operator/changes: what differs from the preceding span of the same length (docs/contract.md, section 8). */
export const operatorChanges = z.object({
  from: instant.meta({ description: 'The start of the span' }),
  to: instant.meta({ description: 'The end of the span: the time of the request' }),
  previousFrom: instant.meta({ description: 'The start of the preceding span' }),
  moved: z
    .array(
      z.object({
        what: z.string().meta({ description: 'What was counted', examples: ['sessions started (widget)'] }),
        now: z.number().meta({
          description: 'The value in the span: a count, or in the unit that the name says',
          ...inUnit('varies', 412),
        }),
        before: z.number().meta({ description: 'The value in the preceding span', ...inUnit('varies', 96) }),
        factor: z
          .number()
          .nullable()
          .meta({
            description: '`now` divided by `before`; null if `before` is 0',
            ...inUnit('factor', 4.29),
          }),
      }),
    )
    .meta({
      description:
        'Counts of at least ten that changed by a factor of 1.5 or more, up or down, the largest change first',
    }),
  happened: z
    .array(
      z.object({
        at: instant.meta({ description: 'When it happened' }),
        kind: z.enum(['node', 'audit']).meta({ description: 'A process started, or an operator did something' }),
        sentence: z.string().meta({
          description: 'What happened, in words',
          examples: ['A process started on voice-2: 0.1.0 → 0.2.0.'],
        }),
        href: z
          .string()
          .nullable()
          .meta({
            description: 'The console page with more about it; null if there is none',
            examples: ['/console/nodes'],
          }),
      }),
    )
    .meta({ description: 'Processes that started and actions of operators; empty for admins of tenants' }),
});

export type OperatorChanges = z.infer<typeof operatorChanges>;

export const changesSince = z.object({
  since: instant.optional().meta({ description: 'The start of the span: at most 31 days ago, by default one day ago' }),
  tenantId: tenantAsked.optional(),
});
