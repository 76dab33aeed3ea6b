import { z } from 'zod';
import { TOKEN_CLASSES } from '../price.ts';
import { count, instant } from '../values.ts';

const reconciledRow = z.object({
  model: z.string().meta({ description: 'Without the date of a snapshot' }),
  class: z.enum(TOKEN_CLASSES as [string, ...string[]]),
  ours: count,
  theirs: count,
  dollars: z
    .number()
    .nullable()
    .meta({ description: 'What the difference is worth; null for a model without a price' }),
  equal: z.boolean().meta({ description: 'Within half a percent, or ten cents' }),
});

const reconciledDay = z.object({
  day: z.string().meta({ description: 'In UTC, as the provider bills' }),
  upstream: z.string(),
  state: z.enum(['equal', 'explained', 'unexplained', 'unreadable']),
  rows: z.array(reconciledRow),
  dollars: z.object({
    ours: z.number(),
    theirs: z.number().nullable(),
    estimated: z.number().meta({ description: 'What of ours stands on estimates' }),
    unexplained: z.number(),
  }),
  askedAt: instant,
});

/** What was counted beside what the provider says, by day (docs/contract.md, section 8). */
export const reconciliationReply = z.object({
  enabled: z.boolean().meta({ description: 'Whether OPENAI_ADMIN_KEY is set' }),
  days: z.array(reconciledDay),
});

export type OperatorReconciledDay = z.infer<typeof reconciledDay>;
