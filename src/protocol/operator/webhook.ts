import { z } from 'zod';
import { actor, auditReason, namedTenant, sessionRef, tenantAsked, tenantId, tenantNamed } from '../fields.ts';
import { count, inUnit, instant, instantAsked, milliseconds, ok, ordinal, text } from '../values.ts';
import { webhookTypes } from '../webhook-event.ts';
import { page, pageAsked } from './page.ts';

const reason = auditReason;
const webhookId = z.string().meta({ description: 'The id of the webhook', examples: ['wh_Zq3v0m8XcQf1rT6uYp2sLw'] });
const eventId = z.string().meta({
  description: 'The id of the event: the `webhook-id` of its requests',
  examples: ['evt_Zq3v0m8XcQf1rT6uYp2sLw'],
});
const eventType = z.string().meta({ description: 'What it tells of', examples: ['session.settled'] });
/** What is wrong with them is told by the same rules as for the tenants file. */
const address = z.string().meta({ examples: ['https://hooks.acme.example/switchboard'] });
const url = address.meta({ description: 'Where it is told: an https address with a name, at most 1,024 characters' });
const types = z.array(eventType).meta({ description: `What it is told: some of ${webhookTypes.join(', ')}` });

const deliveryState = z.enum(['waiting', 'delivered', 'dead']).meta({
  description:
    '`waiting` to be sent, `delivered`, or `dead`: all tries failed, and it is sent no more unless somebody asks for it',
});

/** A webhook endpoint as operators see it (docs/contract.md, section 12). */
export const operatorWebhook = z.object({
  id: webhookId,
  tenantId: tenantId
    .nullable()
    .meta({ description: 'Whose it is; null for one of the installation, which is told of all tenants' }),
  url: address.meta({
    description: 'Where it is told; viewers see its origin alone, because paths of such addresses are often secrets',
  }),
  types: z.array(eventType).meta({ description: 'What it is told' }),
  state: z.string().meta({
    description: '`healthy`, `failing` (single deliveries try it, and all else waits) or `disabled` (nothing is sent)',
    examples: ['healthy', 'failing', 'disabled'],
  }),
  failures: count.meta({ description: 'Deliveries in a row that failed, while it is healthy' }),
  failingSince: instant.nullable().meta({ description: 'Since when it fails; null unless it is failing' }),
  probeAt: instant.nullable().meta({ description: 'When a failing one is tried next; null unless it is failing' }),
  disabledFor: z
    .string()
    .nullable()
    .meta({
      description:
        'Why it is disabled: `gone` (its server answered 410), `failing` (for five days) or `operator`; else null',
      examples: ['gone', 'failing', 'operator'],
    }),
  waiting: count.meta({ description: 'Deliveries that wait' }),
  createdAt: instant.meta({ description: 'When it was added' }),
  createdBy: actor.meta({ description: 'Who added it' }),
  version: ordinal.meta({ description: 'One more with each change of it' }),
});

export type OperatorWebhook = z.infer<typeof operatorWebhook>;

export const webhookFilters = z.object({ tenantId: tenantAsked.optional() });

export const operatorWebhooks = z.object({
  tenants: z.array(namedTenant).meta({ description: 'The tenants that are shown' }),
  webhooks: z.array(operatorWebhook).meta({ description: 'Their webhooks, and those of the installation' }),
  types: z
    .array(
      z.object({
        type: eventType,
        meaning: z.string().meta({ description: 'When it is told', examples: ['A session was opened'] }),
      }),
    )
    .meta({ description: 'What a webhook can be told, and when' }),
});

export const webhookReply = z.object({ webhook: operatorWebhook.meta({ description: 'The webhook as it is now' }) });

export const newWebhookRequest = z.strictObject({
  tenantId: tenantNamed.optional().meta({ description: 'Whose it will be; the installation’s without it' }),
  url,
  types,
  reason,
});

const secret = z.string().meta({
  description: 'What its requests are signed with, shown this once',
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
  event: eventId.meta({ description: 'The id of the delivery that tells what came of it' }),
});

/** One event for one endpoint. */
export const operatorDelivery = z.object({
  event: eventId,
  webhook: webhookId,
  type: eventType,
  session: sessionRef
    .nullable()
    .meta({ description: 'The ref of the session that it tells of; null where it tells of none' }),
  at: instant.meta({ description: 'When it happened' }),
  state: deliveryState,
  attempts: count.meta({ description: 'How often it was sent' }),
  nextAt: instant.nullable().meta({ description: 'When it is sent next; null where it is not' }),
  doneAt: instant.nullable().meta({ description: 'When it was delivered or given up; null until then' }),
  lastAt: instant.nullable().meta({ description: 'When it was sent last; null until it was' }),
  lastStatus: z
    .int()
    .min(0)
    .nullable()
    .meta({ description: 'The HTTP status of the last answer; null where there was none', ...inUnit('none', 204) }),
  lastCode: z
    .string()
    .nullable()
    .meta({
      description:
        'Why there was no status: `forbidden`, `unreachable`, `timed_out`, `unsigned`; null where there was one',
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
    .meta({ ...sessionRef.meta(), description: 'Only what tells of this session, by its ref' }),
  ...pageAsked,
});

export const deliveryPage = z.object({
  deliveries: z.array(operatorDelivery).meta({ description: 'What it was told, newest first' }),
  ...page,
});

export const deliveryDetail = operatorDelivery.extend({
  body: z.string().meta({
    description: 'The body of its requests, as it is sent',
    examples: ['{"type":"session.settled","timestamp":"2030-01-01T12:06:00.000Z","data":{}}'],
  }),
});

export const sessionDeliveries = z.object({
  deliveries: z
    .array(operatorDelivery.extend({ url: operatorWebhook.shape.url, tenantId: operatorWebhook.shape.tenantId }))
    .meta({ description: 'What webhooks were told of the session, newest first, at most 100' }),
});

export const replayRequest = z.strictObject({
  from: instantAsked.meta({ description: 'Of what happened then or later' }),
  to: instantAsked.meta({ description: 'Of what happened before this' }),
  types: types.optional().meta({ description: 'Which types are sent again; all where none are named' }),
  dryRun: z.boolean().optional().meta({ description: 'Whether they are only counted, and nothing is sent' }),
  expected: count.optional().meta({ description: 'How many were counted before; needed unless it is a dry run' }),
  reason,
});

export const replayReply = z.union([
  z.object({ replayed: count.meta({ description: 'Deliveries that are sent again' }) }),
  z.object({
    matched: count.meta({ description: 'Deliveries that would be sent again' }),
    expected: count.meta({ description: 'What to send as `expected` to send them' }),
  }),
]);
