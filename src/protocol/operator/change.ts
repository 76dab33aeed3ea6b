import { z } from 'zod';
import { tenantAsked } from '../fields.ts';
import { instant, inUnit } from '../values.ts';

/** GET /api/operator/changes: what differs from the span of the same length before (docs/contract.md, section 8). */
export const operatorChanges = z.object({
  from: instant.meta({ description: 'Where the span begins that is told of' }),
  to: instant.meta({ description: 'Where it ends: the time of the request' }),
  previousFrom: instant.meta({ description: 'Where the span before it begins' }),
  moved: z
    .array(
      z.object({
        what: z.string().meta({ description: 'What was counted', examples: ['sessions started (widget)'] }),
        now: z.number().meta({
          description: 'How much it is in the span: a count, or what the name says it is in',
          ...inUnit('varies', 412),
        }),
        before: z.number().meta({ description: 'The same in the span before', ...inUnit('varies', 96) }),
        factor: z
          .number()
          .nullable()
          .meta({
            description: '`now` divided by `before`; null where there was none before',
            ...inUnit('factor', 4.29),
          }),
      }),
    )
    .meta({ description: 'Counts of at least ten that changed by the factor 1.5 or more, up or down, the most first' }),
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
            description: 'The page of the console that tells more; null where there is none',
            examples: ['/console/nodes'],
          }),
      }),
    )
    .meta({ description: 'Which processes started and what operators did; empty for admins of tenants' }),
});

export type OperatorChanges = z.infer<typeof operatorChanges>;

export const changesSince = z.object({
  since: instant
    .optional()
    .meta({ description: 'Where the span begins: at most 31 days ago, and a day ago without it' }),
  tenantId: tenantAsked.optional(),
});
