import { z } from 'zod';
import { actor, requestId, tenantAsked, tenantId } from '../fields.ts';
import { count, instant, instantAsked, text } from '../values.ts';
import { page, pageAsked } from './page.ts';

/** One change that an operator made (docs/contract.md, section 8). */
export const auditRow = z.object({
  at: instant.meta({ description: 'When it was done' }),
  actor,
  role: z
    .string()
    .nullable()
    .meta({
      description: 'The role by which they did it, or `cli`; null for what earlier versions kept',
      examples: ['operator'],
    }),
  action: z.string().meta({ description: 'What was done', examples: ['session.end', 'key.revoke'] }),
  target: z.string().meta({
    description: 'The ref of a session, `<tenant>/<id>` of a key, or what else was acted on',
    examples: ['acme/site'],
  }),
  tenantId: tenantId.nullable().meta({ description: 'Whose it was; null where it is of no tenant' }),
  reason: z
    .string()
    .nullable()
    .meta({ description: 'Why, as they said; null where they said nothing', examples: ['the visitor asked us to'] }),
  requestId: requestId.nullable().meta({ description: 'The `X-Request-Id` of the request; null where none did it' }),
  batchId: z
    .string()
    .nullable()
    .meta({
      description: 'The same for all that was changed together; null for what was done alone',
      examples: ['batch_kX2vQ9mB4tYw7nLcR1sZ0A'],
    }),
  result: z
    .string()
    .nullable()
    .meta({
      description: '`done`, `unchanged` or `failed`; null while it is not known',
      examples: ['done', 'unchanged', 'failed'],
    }),
  count: count.nullable().meta({ description: 'How many it concerned; null where that is not said' }),
});

export type AuditRow = z.infer<typeof auditRow>;

/** Of those who did something: a URL holds it in the place of an address. */
const actorRef = text(32).meta({
  description: 'Names whoever did it without telling the address',
  examples: ['9f86d081884c7d659a2feaa0c55ad015'],
});

export const listedAuditRow = auditRow.extend({
  actorRef: actorRef
    .nullable()
    .meta({ description: 'Whoever did it, for `actorRef` of this list; null for whom the address is masked' }),
});

export type ListedAuditRow = z.infer<typeof listedAuditRow>;

export const auditFilters = z.object({
  actor: text(254)
    .optional()
    .meta({
      description: 'Only what they did, by the whole name that the audit has; nothing for whom it is masked',
      examples: ['ops@example.com'],
    }),
  actorRef: actorRef
    .optional()
    .meta({ description: 'Only what whoever has this `actorRef` did; nothing for whom the address is masked' }),
  action: text(64)
    .optional()
    .meta({ description: 'Only acts of this name', examples: ['session.end'] }),
  target: text(256)
    .optional()
    .meta({ description: 'Only what was done to this', examples: ['acme/site'] }),
  batchId: text(64)
    .optional()
    .meta({ description: 'Only what was changed together', examples: ['batch_kX2vQ9mB4tYw7nLcR1sZ0A'] }),
  batches: z
    .enum(['listed', 'folded'])
    .default('listed')
    .meta({
      description:
        'With `folded`, what was changed together is the row of the act as a whole, with its `count`, and its parts are found by `batchId`. They are rows all the same for whoever is not shown that row, and for `target`, `batchId` and the action of the parts',
      examples: ['folded'],
    }),
  tenantId: tenantAsked.optional(),
  from: instantAsked.optional().meta({ description: 'Only what was done then or later' }),
  to: instantAsked.optional().meta({ description: 'Only what was done before' }),
  ...pageAsked,
});

export const auditPage = z.object({
  rows: z.array(listedAuditRow).meta({ description: 'What operators did, newest first' }),
  ...page,
});
