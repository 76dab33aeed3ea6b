import { z } from 'zod';
import { TOKEN_CLASSES } from '../price.ts';
import { dollars, instant, tokens } from '../values.ts';

const reconciledRow = z.object({
  model: z.string().meta({ description: 'The model, without the date of a snapshot', examples: ['gpt-realtime'] }),
  class: z.enum(TOKEN_CLASSES as [string, ...string[]]).meta({ description: 'The class of tokens, as billed' }),
  ours: tokens.meta({ description: 'What Switchboard counted' }),
  theirs: tokens.meta({ description: 'What the provider reports' }),
  dollars: dollars.nullable().meta({ description: 'The price of the difference; null for a model without a price' }),
  equal: z.boolean().meta({ description: 'Whether both are equal, within half a percent or ten cents' }),
});

const reconciledDay = z.object({
  day: z.string().meta({ description: 'The day, in UTC, as the provider bills', examples: ['2030-01-01'] }),
  upstream: z.string().meta({ description: 'The provider that was asked', examples: ['openai'] }),
  state: z.enum(['equal', 'explained', 'unexplained', 'unreadable']).meta({
    description:
      'Whether both agree. `explained`: the difference was estimated by Switchboard, or used in calls that pages opened themselves; `unreadable`: the provider’s reply could not be read',
  }),
  rows: z.array(reconciledRow).meta({ description: 'The tokens of each model and class' }),
  dollars: z
    .object({
      ours: dollars.meta({ description: 'What Switchboard counted' }),
      theirs: dollars.nullable().meta({ description: 'What the provider bills; null if it does not say' }),
      estimated: dollars.meta({ description: 'The estimated part of what Switchboard counted' }),
      unexplained: dollars.meta({ description: 'The unexplained difference' }),
    })
    .meta({ description: 'The cost of the day' }),
  askedAt: instant.meta({ description: 'When the provider was asked' }),
});

/** What Switchboard counted beside what the provider reports, by day (docs/contract.md, section 8). */
export const reconciliationReply = z.object({
  enabled: z.boolean().meta({ description: 'Whether OPENAI_ADMIN_KEY is set' }),
  days: z.array(reconciledDay).meta({ description: 'The last 31 days, newest first' }),
});

export type OperatorReconciledDay = z.infer<typeof reconciledDay>;
