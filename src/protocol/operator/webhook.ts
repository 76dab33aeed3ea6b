import { z } from 'zod';
import { count, instant, instantAsked, ok, text } from '../values.ts';
import { webhookTypes } from '../webhook-event.ts';
import { page, pageAsked } from './page.ts';

const reason = z.string().max(500).optional().meta({ description: 'For the audit' });
/** What is wrong with them is told by the same rules as for the tenants file. */
const url = z.string().meta({ description: 'An https address with a name, at most 1,024 characters' });
const types = z.array(z.string()).meta({ description: `Some of ${webhookTypes.join(', ')}` });

const deliveryState = z
  .enum(['waiting', 'delivered', 'dead'])
  .meta({ description: '`dead`: all tries failed, and it is sent no more unless somebody asks for it' });

/** A webhook endpoint as operators see it (docs/contract.md, section 12). */
export const operatorWebhook = z.object({
  id: z.string(),
  tenantId: z
    .string()
    .nullable()
    .meta({ description: 'Null for one of the installation, which is told of all tenants' }),
  url: z.string().meta({ description: 'Viewers see its origin alone: paths of such addresses are often secrets' }),
  types: z.array(z.string()),
  state: z.string().meta({ description: '`healthy`, `failing` or `disabled`' }),
  failures: count.meta({ description: 'In a row, while it is healthy' }),
  failingSince: instant.nullable(),
  probeAt: instant.nullable().meta({ description: 'When a failing one is tried next' }),
  disabledFor: z.string().nullable().meta({ description: '`gone` (410), `failing` (for five days) or `operator`' }),
  waiting: count.meta({ description: 'Deliveries that wait' }),
  createdAt: instant,
  createdBy: z.string(),
  version: count,
});

export type OperatorWebhook = z.infer<typeof operatorWebhook>;

export const webhookFilters = z.object({ tenantId: text(128).optional() });

export const operatorWebhooks = z.object({
  tenants: z.array(z.object({ id: z.string(), name: z.string() })),
  webhooks: z.array(operatorWebhook),
  types: z
    .array(z.object({ type: z.string(), meaning: z.string() }))
    .meta({ description: 'What a webhook can be told, and when' }),
});

export const webhookReply = z.object({ webhook: operatorWebhook });

export const newWebhookRequest = z.strictObject({
  tenantId: text(128).optional().meta({ description: 'The installation without it' }),
  url,
  types,
  reason,
});

const secret = z.string().meta({ description: '`whsec_…`, shown this once' });

export const newWebhookReply = z.object({ webhook: operatorWebhook, secret });

export const changeWebhookRequest = z.strictObject({ url: url.optional(), types: types.optional(), reason });

export const deleteWebhookFilters = z.object({ reason: text(500).optional() });

export const webhookActRequest = z.strictObject({ reason });

export const webhookDone = z.object({ ok });

export const webhookSecretReply = z.object({ secret });

export const webhookTestReply = z.object({ event: z.string().meta({ description: 'Names its delivery' }) });

/** One event for one endpoint. */
export const operatorDelivery = z.object({
  event: z.string().meta({ description: 'The webhook-id of its requests' }),
  webhook: z.string(),
  type: z.string(),
  session: z.string().nullable().meta({ description: 'The ref of the session that it tells of' }),
  at: instant.meta({ description: 'When it happened' }),
  state: deliveryState,
  attempts: count,
  nextAt: instant.nullable().meta({ description: 'When it is sent next' }),
  doneAt: instant.nullable(),
  lastAt: instant.nullable().meta({ description: 'Of the last request' }),
  lastStatus: count.nullable(),
  lastCode: z.string().nullable().meta({
    description: 'Why there was no status: `forbidden`, `unreachable`, `timed_out`, `unsigned`',
  }),
  ms: count.nullable(),
});

export type OperatorDelivery = z.infer<typeof operatorDelivery>;

export const deliveryFilters = z.object({
  state: deliveryState.optional(),
  type: text(64).optional(),
  session: text(42).optional(),
  ...pageAsked,
});

export const deliveryPage = z.object({ deliveries: z.array(operatorDelivery), ...page });

export const deliveryDetail = operatorDelivery.extend({ body: z.string().meta({ description: 'As it is sent' }) });

export const sessionDeliveries = z.object({
  deliveries: z.array(operatorDelivery.extend({ url: z.string(), tenantId: z.string().nullable() })),
});

export const replayRequest = z.strictObject({
  from: instantAsked.meta({ description: 'What happened then or later' }),
  to: instantAsked.meta({ description: 'and before this' }),
  types: types.optional().meta({ description: 'All where none are named' }),
  dryRun: z.boolean().optional().meta({ description: 'true counts and sends nothing' }),
  expected: count.optional().meta({ description: 'What was counted; needed unless it is a dry run' }),
  reason,
});

export const replayReply = z.union([z.object({ replayed: count }), z.object({ matched: count, expected: count })]);
