import { z } from 'zod';
import { tenantAsked } from '../fields.ts';
import { instant, number, string } from '../field-types.ts';

/** GET /api/operator/changes: what differs from the preceding span of the same length (docs/contract.md, section 8). */
export const operatorChanges = z.object({
  from: instant.describe('The start of the span'),
  to: instant.describe('The end of the span: the time of the request'),
  previousFrom: instant.describe('The start of the preceding span'),
  moved: z
    .array(
      z.object({
        what: string('What was counted', 'sessions started (widget)'),
        now: number('varies', 412, 'The value in the span: a count, or in the unit that the name says'),
        before: number('varies', 96, 'The value in the preceding span'),
        factor: number('factor', 4.29, '`now` divided by `before`; null if `before` is 0').nullable(),
      }),
    )
    .describe('Counts of at least ten that changed by a factor of 1.5 or more, up or down, the largest change first'),
  happened: z
    .array(
      z.object({
        at: instant.describe('When it happened'),
        kind: z.enum(['node', 'audit']).describe('A process started, or an operator did something'),
        sentence: string('What happened, in words', 'A process started on voice-2: 0.1.0 → 0.2.0.'),
        href: string('The console page with more about it; null if there is none', '/console/nodes').nullable(),
      }),
    )
    .describe('Processes that started and actions of operators; empty for admins of tenants'),
});

export type OperatorChanges = z.infer<typeof operatorChanges>;

export const changesSince = z.object({
  since: instant.optional().describe('The start of the span: at most 31 days ago, by default one day ago'),
  tenantId: tenantAsked.optional(),
});
