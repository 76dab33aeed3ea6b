import { z } from 'zod';
import { TOKEN_CLASSES } from '../price.ts';
import { dollars, instant, tokens } from '../values.ts';

const reconciledRow = z.object({
  model: z.string().meta({ description: 'The model, without the date of a snapshot', examples: ['gpt-realtime'] }),
  class: z.enum(TOKEN_CLASSES as [string, ...string[]]).meta({ description: 'Which tokens, by how they are billed' }),
  ours: tokens.meta({ description: 'What was counted here' }),
  theirs: tokens.meta({ description: 'What the provider says' }),
  dollars: dollars.nullable().meta({ description: 'What the difference is worth; null for a model without a price' }),
  equal: z.boolean().meta({ description: 'Whether both are the same, within half a percent or ten cents' }),
});

const reconciledDay = z.object({
  day: z.string().meta({ description: 'The day, in UTC, as the provider bills', examples: ['2030-01-01'] }),
  upstream: z.string().meta({ description: 'The provider that was asked', examples: ['openai'] }),
  state: z.enum(['equal', 'explained', 'unexplained', 'unreadable']).meta({
    description:
      'Whether both agree; `explained`: what differs was estimated here, or used in calls that pages opened themselves; `unreadable`: the provider gave no answer that can be read',
  }),
  rows: z.array(reconciledRow).meta({ description: 'The tokens of each model and class' }),
  dollars: z
    .object({
      ours: dollars.meta({ description: 'What was counted here' }),
      theirs: dollars.nullable().meta({ description: 'What the provider bills; null where it does not say' }),
      estimated: dollars.meta({ description: 'What of ours stands on estimates' }),
      unexplained: dollars.meta({ description: 'What differs, and nothing explains' }),
    })
    .meta({ description: 'What the day cost' }),
  askedAt: instant.meta({ description: 'When the provider was asked' }),
});

/** What was counted beside what the provider says, by day (docs/contract.md, section 8). */
export const reconciliationReply = z.object({
  enabled: z.boolean().meta({ description: 'Whether OPENAI_ADMIN_KEY is set' }),
  days: z.array(reconciledDay).meta({ description: 'The last 31 days, the newest first' }),
});

export type OperatorReconciledDay = z.infer<typeof reconciledDay>;
