import { z } from 'zod';
import { TOKEN_CLASSES } from '../price.ts';
import { callRef, model, count, dollars, instant, string, tokens } from '../fields.ts';

const reconciledRow = z.object({
  model: string('The model, without the date of a snapshot', 'gpt-realtime'),
  class: z.enum(TOKEN_CLASSES as [string, ...string[]]).describe('The class of tokens, as billed'),
  ours: tokens.describe('What Switchboard counted'),
  theirs: tokens.describe('What the provider reports'),
  dollars: dollars.nullable().describe('The price of the difference; null for a model without a price'),
  equal: z.boolean().describe('Whether both are equal, within half a percent or ten cents'),
});

/** What may be behind a difference. */
const causes = z.object({
  gapCalls: count.describe(
    'Calls that no process heard for a while, so that part of their usage was estimated or reported by a client; counted up to 1,000',
  ),
  gaps: z
    .array(
      z.object({ call: callRef, dollars: dollars.describe('The part of its cost on that day that was not heard') }),
    )
    .describe('The calls with the highest such part, at most 5'),
  unpriced: z.array(model).describe('Models without a price, which are charged at the highest known rates, at most 5'),
  repriced: z
    .array(
      z.object({
        model: model.describe('The model'),
        versions: z
          .array(string('A version of a price list', '2026-11-01'))
          .describe('The versions by which it was charged on that day'),
      }),
    )
    .describe('Models whose price list changed during the day, at most 5'),
  directSessions: count.describe(
    'Sessions whose pages opened calls themselves, which Switchboard does not hear; counted up to 1,000',
  ),
  unconfirmedCalls: count.describe(
    'Calls whose hang-up the provider has not confirmed and which may have gone on; counted up to 1,000',
  ),
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
  causes: causes
    .nullable()
    .describe('What may be behind a difference, as of `askedAt`; null for a day that an earlier version compared'),
  askedAt: instant.describe('When the provider was asked'),
});

/** What Switchboard counted beside what the provider reports, by day (docs/contract.md, section 8). */
export const reconciliationReply = z.object({
  enabled: z.boolean().describe('Whether OPENAI_ADMIN_KEY is set'),
  isOfProject: z
    .boolean()
    .describe(
      'Whether only usage of OPENAI_PROJECT is compared; without it, what others in the organization used appears as a difference',
    ),
  days: z.array(reconciledDay).describe('The last 31 days, newest first'),
});

export type OperatorReconciledDay = z.infer<typeof reconciledDay>;
