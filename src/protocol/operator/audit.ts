import { z } from 'zod';
import { actor, requestId, tenantAsked, tenantId, count, instant, instantAsked, string, text } from '../fields.ts';
import { page, pageAsked } from './pagination.ts';

/** One change that an operator made (docs/contract.md, section 8). */
export const auditRow = z.object({
  at: instant.describe('When it was done'),
  actor,
  role: string('The role in which they did it, or `cli`; null in rows of earlier versions', 'operator').nullable(),
  action: string('The action', 'session.end', 'key.revoke'),
  target: string('What was acted on: the ref of a session, `<tenant>/<id>` of a key, or another name', 'acme/site'),
  tenantId: tenantId.nullable().describe('The tenant concerned; null if it belongs to no tenant'),
  reason: string('The reason given; null if none', 'the visitor asked us to').nullable(),
  requestId: requestId.nullable().describe('The `X-Request-Id` of the request; null if it was not done by a request'),
  batchId: string(
    'The same for everything changed together; null for a single change',
    'batch_kX2vQ9mB4tYw7nLcR1sZ0A',
  ).nullable(),
  result: string('`done`, `unchanged` or `failed`; null while unknown', 'done', 'unchanged', 'failed').nullable(),
  count: count.nullable().describe('How many items were affected; null if not recorded'),
  textHash: string(
    'Only of a whisper: a keyed hash of its text, which reveals nothing without the key',
    '5d41402abc4b2a76b9719d911017c592',
  ).optional(),
});

export type AuditRow = z.infer<typeof auditRow>;

/** Identifies who did something; URLs use it instead of an e-mail address. */
const actorRef = text(32, 'Identifies who did it without revealing the address', '9f86d081884c7d659a2feaa0c55ad015');

export const listedAuditRow = auditRow.extend({
  actorRef: actorRef
    .nullable()
    .describe('Identifies who did it, for the `actorRef` filter of this list; null for users who see it masked'),
});

export type ListedAuditRow = z.infer<typeof listedAuditRow>;

export const auditFilters = z.object({
  actor: text(
    254,
    'Only actions of this actor, by the full name in the audit; finds nothing for users who see it masked',
    'ops@example.com',
  ).optional(),
  actorRef: actorRef
    .optional()
    .describe('Only actions of the actor with this `actorRef`; finds nothing for users who see it masked'),
  action: text(64, 'Only this action', 'session.end').optional(),
  target: text(256, 'Only actions on this target', 'acme/site').optional(),
  batchId: text(64, 'Only the changes made together in this batch', 'batch_kX2vQ9mB4tYw7nLcR1sZ0A').optional(),
  batches: z
    .enum(['listed', 'folded'])
    .default('listed')
    .meta({
      description:
        'With `folded`, changes made together are one row for the whole act, with its `count`; find its parts by `batchId`. The parts are still rows for users who may not see that row, and with the filters `target`, `batchId` or the action of the parts',
      examples: ['folded'],
    }),
  tenantId: tenantAsked.optional(),
  from: instantAsked.optional().describe('Only actions at or after this time'),
  to: instantAsked.optional().describe('Only actions before this time'),
  ...pageAsked,
});

export const auditPage = z.object({
  rows: z.array(listedAuditRow).describe('What operators did, newest first'),
  ...page,
});
