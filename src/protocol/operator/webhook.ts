import { z } from 'zod';
import {
  actor,
  auditReason,
  namedTenant,
  reasonAsked,
  sessionRef,
  tenantId,
  tenantNamed,
  count,
  instant,
  instantAsked,
  integer,
  milliseconds,
  ordinal,
  string,
  text,
} from '../fields.ts';
import { webhookTypes } from '../webhook.ts';
import { page, pageAsked } from './pagination.ts';

const webhookId = string('The id of the webhook', 'wh_Zq3v0m8XcQf1rT6uYp2sLw');
const eventId = string('The id of the event, sent as `webhook-id` in its requests', 'evt_Zq3v0m8XcQf1rT6uYp2sLw');
const eventType = string('The type of the event', 'session.settled');
/** Mistakes in these fields are reported by the rules of the tenants file. */
const address = z.string().meta({ examples: ['https://hooks.acme.example/switchboard'] });
const url = address.describe('Where to send events: an https address with a host name, at most 1,024 characters');
const types = z.array(eventType).describe(`The types of events to send: any of ${webhookTypes.join(', ')}`);

const deliveryState = z
  .enum(['waiting', 'delivered', 'dead'])
  .describe('`waiting` to be sent, `delivered`, or `dead`: all attempts failed, and it is sent again only on request');

/** A webhook endpoint as operators see it (docs/contract.md, section 12). */
export const operatorWebhook = z.object({
  id: webhookId,
  tenantId: tenantId
    .nullable()
    .describe('Its tenant; null for a webhook of the installation, which receives events of all tenants'),
  url: address.describe(
    'The address that events are sent to; viewers see only its origin, because the paths of such addresses are often secret',
  ),
  types: z.array(eventType).describe('The types of events that it receives'),
  state: string(
    '`healthy`, `failing` (single deliveries are tried, and the others wait) or `disabled` (nothing is sent)',
    'healthy',
    'failing',
    'disabled',
  ),
  failures: count.describe('Consecutive failed deliveries, while it is healthy'),
  failingSince: instant.nullable().describe('When it started to fail; null unless it is failing'),
  probeAt: instant.nullable().describe('When it will next be tried; null unless it is failing'),
  disabledFor: string(
    'Why it is disabled: `gone` (its server answered 410), `failing` (for five days) or `operator`; otherwise null',
    'gone',
    'failing',
    'operator',
  ).nullable(),
  waiting: count.describe('Waiting deliveries'),
  createdAt: instant.describe('When it was added'),
  createdBy: actor.describe('Who added it'),
  version: ordinal.describe('A number that increases with each change'),
});

export type OperatorWebhook = z.infer<typeof operatorWebhook>;

export const operatorWebhooks = z.object({
  tenants: z.array(namedTenant).describe('The tenants that you may see'),
  webhooks: z.array(operatorWebhook).describe('The webhooks of these tenants, and those of the installation'),
  types: z
    .array(z.object({ type: eventType, meaning: string('When it is sent', 'A session was opened') }))
    .describe('The types of events, and when each is sent'),
});

export const webhookReply = z.object({ webhook: operatorWebhook.describe('The webhook as it is now') });

export const newWebhookRequest = z.strictObject({
  tenantId: tenantNamed
    .optional()
    .describe('The tenant of the webhook; leave it out for a webhook of the installation'),
  url,
  types,
  reason: auditReason,
});

const secret = string(
  'The secret that signs its requests, shown only this once',
  'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=',
);

export const newWebhookReply = z.object({ webhook: operatorWebhook.describe('The new webhook'), secret });

export const changeWebhookRequest = z.strictObject({
  url: url.optional(),
  types: types.optional(),
  reason: auditReason,
});

export const deleteWebhookFilters = z.object({ reason: reasonAsked });

export const webhookSecretReply = z.object({ secret });

export const webhookTestReply = z.object({ event: eventId.describe('The id of the delivery, which shows the result') });

/** The delivery of one event to one endpoint. */
export const operatorDelivery = z.object({
  event: eventId,
  webhook: webhookId,
  type: eventType,
  session: sessionRef.nullable().describe('The ref of the session concerned; null if there is none'),
  at: instant.describe('When the event happened'),
  state: deliveryState,
  attempts: count.describe('The number of attempts'),
  nextAt: instant.nullable().describe('When it will next be sent; null if it will not'),
  doneAt: instant.nullable().describe('When it was delivered or given up; null until then'),
  lastAt: instant.nullable().describe('When it was last sent; null until then'),
  lastStatus: integer('none', 204, 'The HTTP status of the last answer; null if there was none').min(0).nullable(),
  lastCode: string(
    'Why there was no status: `forbidden`, `unreachable`, `timed_out`, `unsigned`; null if there was one',
    'unreachable',
    'timed_out',
  ).nullable(),
  ms: milliseconds.nullable().describe('How long the last request took; null until there was one'),
});

export type OperatorDelivery = z.infer<typeof operatorDelivery>;

export const deliveryFilters = z.object({
  state: deliveryState.optional().describe('Only deliveries in this state'),
  type: text(64)
    .optional()
    .meta({ ...eventType.meta(), description: 'Only deliveries of this type' }),
  session: text(42)
    .optional()
    .meta({ ...sessionRef.meta(), description: 'Only deliveries about this session, by its ref' }),
  ...pageAsked,
});

export const deliveryPage = z.object({
  deliveries: z.array(operatorDelivery).describe('The deliveries to the webhook, newest first'),
  ...page,
});

export const deliveryDetail = operatorDelivery.extend({
  body: string(
    'The body of its requests, exactly as sent',
    '{"type":"session.settled","timestamp":"2030-01-01T12:06:00.000Z","data":{}}',
  ),
});

export const sessionDeliveries = z.object({
  deliveries: z
    .array(operatorDelivery.extend({ url: operatorWebhook.shape.url, tenantId: operatorWebhook.shape.tenantId }))
    .describe('Deliveries about the session, newest first, at most 100'),
});

export const replayRequest = z.strictObject({
  from: instantAsked.describe('Only events at or after this time'),
  to: instantAsked.describe('Only events before this time'),
  types: types.optional().describe('The types to send again; all by default'),
  dryRun: z.boolean().optional().describe('Only count them, and send nothing'),
  expected: count.optional().describe('The number counted before; required unless it is a dry run'),
  reason: auditReason,
});

export const replayReply = z.union([
  z.object({ replayed: count.describe('Deliveries that will be sent again') }),
  z.object({
    matched: count.describe('Deliveries that would be sent again'),
    expected: count.describe('The value to send as `expected` to send them'),
  }),
]);
