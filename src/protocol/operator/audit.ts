import { z } from 'zod';
import { count, instant, instantAsked, text } from '../values.ts';
import { page, pageAsked } from './page.ts';

/** One change that an operator made (docs/contract.md, section 8). */
export const auditRow = z.object({
  at: instant,
  actor: z.string().meta({
    description:
      'An address, `service:` and what tells one token from another, or `cli`; of viewers and admins addresses are masked',
  }),
  role: z.string().nullable(),
  action: z.string(),
  target: z.string().meta({ description: 'The ref of a session, `<tenant>/<id>` of a key, or what else was acted on' }),
  tenantId: z.string().nullable(),
  reason: z.string().nullable(),
  requestId: z.string().nullable(),
  batchId: z.string().nullable().meta({ description: 'The same for all that was changed together' }),
  result: z.string().nullable().meta({ description: '`done`, `unchanged` or `failed`; null while it is not known' }),
  count: count.nullable().meta({ description: 'How many it concerned, where that is said' }),
});

export type AuditRow = z.infer<typeof auditRow>;

export const auditFilters = z.object({
  actor: text(254).optional(),
  action: text(64).optional(),
  target: text(256).optional(),
  batchId: text(64).optional(),
  tenantId: text(128).optional(),
  from: instantAsked.optional(),
  to: instantAsked.optional(),
  ...pageAsked,
});

export const auditPage = z.object({ rows: z.array(auditRow), ...page });
