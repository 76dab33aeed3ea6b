import { z } from 'zod';
import { budgetEntry } from '../budget.ts';
import { keyId, tenantNamed, count, dollars, instant, instantAsked, string, text } from '../fields.ts';
import { keyLimits, keyTotals } from './key.ts';

/** What to try out: the fields that set limits, ceilings and budgets. */
const change = z
  .strictObject({
    keyId: text(200)
      .optional()
      .meta({ ...keyId.meta(), description: 'The widget key whose limits and totals to change' }),
    limits: z
      .strictObject(keyLimits.shape)
      .optional()
      .describe('Limits of each visitor of the key; what is left out stays as it was'),
    totals: z
      .strictObject(keyTotals.shape)
      .optional()
      .describe('Ceilings over all visitors together, of the key, or of the tenant if no key is named'),
    budget: budgetEntry.optional().describe('A budget of the tenant; it replaces an existing budget with the same id'),
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
  from: instantAsked.describe('Replay what began at or after this time'),
  to: instantAsked.describe('Replay what began before this time; at most 31 days after `from`'),
  tenantId: tenantNamed.describe('The tenant whose sessions and usage to replay'),
  change: change.describe('The settings to assume for the whole span'),
});

export type WhatIfRequest = z.output<typeof whatIfRequest>;

export const whatIfReply = z.object({
  from: instant.describe('The start of the span'),
  to: instant.describe('The end of the span'),
  creates: z
    .object({
      total: count.describe('Sessions opened in the span'),
      refused: count.describe('How many of them would have been refused'),
      byCode: z
        .record(z.string(), count)
        .meta({ description: 'Those refusals, by code', examples: [{ DAILY_QUOTA_EXCEEDED: 12 }] }),
    })
    .describe('The outcome of creates'),
  ended: count.describe('Sessions that would have been opened, but would have ended earlier than they did'),
  dollars: z
    .object({
      actual: dollars.describe('The cost that was counted in the span'),
      replayed: dollars.describe('The part of it that would have been counted'),
    })
    .describe('The actual cost, and the cost with the change'),
  notReplayed: z
    .array(string('A sentence', 'Creates that were refused then stay refused.'))
    .describe('What the records do not show, so that the replay leaves it as it was; for people to read'),
});

export type WhatIfReply = z.infer<typeof whatIfReply>;
