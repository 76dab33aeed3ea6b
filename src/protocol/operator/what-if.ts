import { z } from 'zod';
import { budgetEntry } from '../budget.ts';
import { keyId, tenantNamed } from '../fields.ts';
import { count, dollars, instant, instantAsked, text } from '../values.ts';
import { keyLimits, keyTotals } from './key.ts';

/** What is tried: the fields in which limits, ceilings and budgets are set. */
const change = z
  .strictObject({
    keyId: text(200)
      .optional()
      .meta({ ...keyId.meta(), description: 'The widget key whose limits and totals are tried' }),
    limits: z
      .strictObject(keyLimits.shape)
      .optional()
      .meta({ description: 'What each visitor of the key may use; what is left out stays as it was' }),
    totals: z.strictObject(keyTotals.shape).optional().meta({
      description: 'What all visitors may use together, of the key, or of the tenant where no key is named',
    }),
    budget: budgetEntry
      .optional()
      .meta({ description: 'A budget of the tenant; one with the id of a present budget takes its place' }),
  })
  .superRefine(({ keyId: key, limits, totals, budget }, context) => {
    const issue = (path: string, message: string): void => context.addIssue({ code: 'custom', path: [path], message });
    if (limits === undefined && totals === undefined && budget === undefined)
      issue('limits', 'must be set, or totals or budget must');
    if (limits !== undefined && key === undefined) issue('keyId', 'must be set: limits are those of a widget key');
    if (key !== undefined && limits === undefined && totals === undefined)
      issue('keyId', 'must be left out: a budget says itself whose usage it counts');
  });

export const whatIfRequest = z.strictObject({
  from: instantAsked.meta({ description: 'What began then or later is replayed' }),
  to: instantAsked.meta({ description: 'What began before is replayed; at most 31 days after `from`' }),
  tenantId: tenantNamed.meta({ description: 'Whose sessions and usage are replayed' }),
  change: change.meta({ description: 'What would have been set all the time' }),
});

export type WhatIfRequest = z.output<typeof whatIfRequest>;

export const whatIfReply = z.object({
  from: instant.meta({ description: 'Where the span begins' }),
  to: instant.meta({ description: 'Where it ends' }),
  creates: z
    .object({
      total: count.meta({ description: 'Sessions that were opened in the span' }),
      refused: count.meta({ description: 'How many of them would have been refused' }),
      byCode: z
        .record(z.string(), count)
        .meta({ description: 'Those by the code of the refusal', examples: [{ DAILY_QUOTA_EXCEEDED: 12 }] }),
    })
    .meta({ description: 'What would have become of creates' }),
  ended: count.meta({ description: 'Sessions that would have been opened, and ended before they did' }),
  dollars: z
    .object({
      actual: dollars.meta({ description: 'What was counted in the span' }),
      replayed: dollars.meta({ description: 'What of it would have been counted' }),
    })
    .meta({ description: 'What was used, and what would have been' }),
  notReplayed: z
    .array(z.string().meta({ description: 'A sentence', examples: ['Creates that were refused then stay refused.'] }))
    .meta({ description: 'What the records do not tell, so that the answer leaves it as it was; for people' }),
});

export type WhatIfReply = z.infer<typeof whatIfReply>;
