import { z } from 'zod';
import { actor, auditReason, namedTenant, sessionRef, tenantAsked, tenantId, tenantNamed } from '../fields.ts';
import { count, inUnit, instant, instantAsked, milliseconds, ok, ordinal, text } from '../values.ts';
import { webhookTypes } from '../webhook-event.ts';
import { page, pageAsked } from './page.ts';

const reason = auditReason;
const webhookId = z.string().meta({ description: 'The id of the webhook', examples: ['wh_Zq3v0m8XcQf1rT6uYp2sLw'] });
const eventId = z.string().meta({
  description: 'The id of the event, sent as `webhook-id` in its requests',
  examples: ['evt_Zq3v0m8XcQf1rT6uYp2sLw'],
});
const eventType = z.string().meta({ description: 'The type of the event', examples: ['session.settled'] });
/** Mistakes in these fields are reported by the rules of the tenants file. */
const address = z.string().meta({ examples: ['https://hooks.acme.example/switchboard'] });
const url = address.meta({
  description: 'Where to send events: an https address with a host name, at most 1,024 characters',
});
const types = z
  .array(eventType)
  .meta({ description: `The types of events to send: any of ${webhookTypes.join(', ')}` });

const deliveryState = z.enum(['waiting', 'delivered', 'dead']).meta({
  description:
    '`waiting` to be sent, `delivered`, or `dead`: all attempts failed, and it is sent again only on request',
});

/** A webhook endpoint as operators see it (docs/contract.md, section 12). */
export const operatorWebhook = z.object({
  id: webhookId,
  tenantId: tenantId
    .nullable()
    .meta({ description: 'Its tenant; null for a webhook of the installation, which receives events of all tenants' }),
  url: address.meta({
    description:
      'The address that events are sent to; viewers see only its origin, because the paths of such addresses are often secret',
  }),
  types: z.array(eventType).meta({ description: 'The types of events that it receives' }),
  state: z.string().meta({
    description:
      '`healthy`, `failing` (single deliveries are tried, and the others wait) or `disabled` (nothing is sent)',
    examples: ['healthy', 'failing', 'disabled'],
  }),
  failures: count.meta({ description: 'Consecutive failed deliveries, while it is healthy' }),
  failingSince: instant.nullable().meta({ description: 'When it started to fail; null unless it is failing' }),
  probeAt: instant.nullable().meta({ description: 'When it will next be tried; null unless it is failing' }),
  disabledFor: z
    .string()
    .nullable()
    .meta({
      description:
        'Why it is disabled: `gone` (its server answered 410), `failing` (for five days) or `operator`; otherwise null',
      examples: ['gone', 'failing', 'operator'],
    }),
  waiting: count.meta({ description: 'Waiting deliveries' }),
  createdAt: instant.meta({ description: 'When it was added' }),
  createdBy: actor.meta({ description: 'Who added it' }),
  version: ordinal.meta({ description: 'A number that increases with each change' }),
});

export type OperatorWebhook = z.infer<typeof operatorWebhook>;

export const webhookFilters = z.object({ tenantId: tenantAsked.optional() });

export const operatorWebhooks = z.object({
  tenants: z.array(namedTenant).meta({ description: 'The tenants that you may see' }),
  webhooks: z
    .array(operatorWebhook)
    .meta({ description: 'The webhooks of these tenants, and those of the installation' }),
  types: z
    .array(
      z.object({
        type: eventType,
        meaning: z.string().meta({ description: 'When it is sent', examples: ['A session was opened'] }),
      }),
    )
    .meta({ description: 'The types of events, and when each is sent' }),
});

export const webhookReply = z.object({ webhook: operatorWebhook.meta({ description: 'The webhook as it is now' }) });

export const newWebhookRequest = z.strictObject({
  tenantId: tenantNamed
    .optional()
    .meta({ description: 'The tenant of the webhook; leave it out for a webhook of the installation' }),
  url,
  types,
  reason,
});

const secret = z.string().meta({
  description: 'The secret that signs its requests, shown only this once',
  examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='],
});

export const newWebhookReply = z.object({ webhook: operatorWebhook.meta({ description: 'The new webhook' }), secret });

export const changeWebhookRequest = z.strictObject({ url: url.optional(), types: types.optional(), reason });

export const deleteWebhookFilters = z.object({
  reason: text(500)
    .optional()
    .meta({ ...auditReason.meta() }),
});

export const webhookActRequest = z.strictObject({ reason });

export const webhookDone = z.object({ ok });

export const webhookSecretReply = z.object({ secret });

export const webhookTestReply = z.object({
  event: eventId.meta({ description: 'The id of the delivery, which shows the result' }),
});

/** The delivery of one event to one endpoint. */
export const operatorDelivery = z.object({
  event: eventId,
  webhook: webhookId,
  type: eventType,
  session: sessionRef.nullable().meta({ description: 'The ref of the session concerned; null if there is none' }),
  at: instant.meta({ description: 'When the event happened' }),
  state: deliveryState,
  attempts: count.meta({ description: 'The number of attempts' }),
  nextAt: instant.nullable().meta({ description: 'When it will next be sent; null if it will not' }),
  doneAt: instant.nullable().meta({ description: 'When it was delivered or given up; null until then' }),
  lastAt: instant.nullable().meta({ description: 'When it was last sent; null until then' }),
  lastStatus: z
    .int()
    .min(0)
    .nullable()
    .meta({ description: 'The HTTP status of the last answer; null if there was none', ...inUnit('none', 204) }),
  lastCode: z
    .string()
    .nullable()
    .meta({
      description:
        'Why there was no status: `forbidden`, `unreachable`, `timed_out`, `unsigned`; null if there was one',
      examples: ['unreachable', 'timed_out'],
    }),
  ms: milliseconds.nullable().meta({ description: 'How long the last request took; null until there was one' }),
});

export type OperatorDelivery = z.infer<typeof operatorDelivery>;

export const deliveryFilters = z.object({
  state: deliveryState.optional().meta({ description: 'Only deliveries in this state' }),
  type: text(64)
    .optional()
    .meta({ ...eventType.meta(), description: 'Only deliveries of this type' }),
  session: text(42)
    .optional()
    .meta({ ...sessionRef.meta(), description: 'Only deliveries about this session, by its ref' }),
  ...pageAsked,
});

export const deliveryPage = z.object({
  deliveries: z.array(operatorDelivery).meta({ description: 'The deliveries to the webhook, newest first' }),
  ...page,
});

export const deliveryDetail = operatorDelivery.extend({
  body: z.string().meta({
    description: 'The body of its requests, exactly as sent',
    examples: ['{"type":"session.settled","timestamp":"2030-01-01T12:06:00.000Z","data":{}}'],
  }),
});

export const sessionDeliveries = z.object({
  deliveries: z
    .array(operatorDelivery.extend({ url: operatorWebhook.shape.url, tenantId: operatorWebhook.shape.tenantId }))
    .meta({ description: 'Deliveries about the session, newest first, at most 100' }),
});

export const replayRequest = z.strictObject({
  from: instantAsked.meta({ description: 'Only events at or after this time' }),
  to: instantAsked.meta({ description: 'Only events before this time' }),
  types: types.optional().meta({ description: 'The types to send again; all by default' }),
  dryRun: z.boolean().optional().meta({ description: 'Only count them, and send nothing' }),
  expected: count.optional().meta({ description: 'The number counted before; required unless it is a dry run' }),
  reason,
});

export const replayReply = z.union([
  z.object({ replayed: count.meta({ description: 'Deliveries that will be sent again' }) }),
  z.object({
    matched: count.meta({ description: 'Deliveries that would be sent again' }),
    expected: count.meta({ description: 'The value to send as `expected` to send them' }),
  }),
]);
