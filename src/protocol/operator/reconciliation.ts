import { z } from 'zod';
import { TOKEN_CLASSES } from '../price.ts';
import { dollars, instant, string, tokens } from '../values.ts';

const reconciledRow = z.object({
  model: string('The model, without the date of a snapshot', 'gpt-realtime'),
  class: z.enum(TOKEN_CLASSES as [string, ...string[]]).describe('The class of tokens, as billed'),
  ours: tokens.describe('What Switchboard counted'),
  theirs: tokens.describe('What the provider reports'),
  dollars: dollars.nullable().describe('The price of the difference; null for a model without a price'),
  equal: z.boolean().describe('Whether both are equal, within half a percent or ten cents'),
});

const reconciledDay = z.object({
  day: string('The day, in UTC, as the provider bills', '2030-01-01'),
  upstream: string('The provider that was asked', 'openai'),
  state: z
    .enum(['equal', 'explained', 'unexplained', 'unreadable'])
    .describe(
      'Whether both agree. `explained`: the difference was estimated by Switchboard, or used in calls that pages opened themselves; `unreadable`: the provider’s reply could not be read',
    ),
  rows: z.array(reconciledRow).describe('The tokens of each model and class'),
  dollars: z
    .object({
      ours: dollars.describe('What Switchboard counted'),
      theirs: dollars.nullable().describe('What the provider bills; null if it does not say'),
      estimated: dollars.describe('The estimated part of what Switchboard counted'),
      unexplained: dollars.describe('The unexplained difference'),
    })
    .describe('The cost of the day'),
  askedAt: instant.describe('When the provider was asked'),
});

/** What Switchboard counted beside what the provider reports, by day (docs/contract.md, section 8). */
export const reconciliationReply = z.object({
  enabled: z.boolean().describe('Whether OPENAI_ADMIN_KEY is set'),
  days: z.array(reconciledDay).describe('The last 31 days, newest first'),
});

export type OperatorReconciledDay = z.infer<typeof reconciledDay>;
