import { z } from 'zod';

/**
 * What webhooks report: one row per event type, with what has happened (docs/contract.md, section 12). The statement that saves such a fact
 * also writes its event (`stores/webhooks/outbox.ts`).
 */
export const WEBHOOK_TYPES = {
  'session.started': 'A session was opened',
  'session.idle': 'A session went idle because nobody was heard for too long',
  'session.stale': 'A session went stale: it had no activity for longer than the grace period',
  'session.ended': 'A session has ended; the last usage of its calls may not be counted yet',
  'session.settled': 'All usage of an ended session has been counted: sent once a session, and the event to bill by',
  'call.opened': 'A call at the provider has opened',
  'call.closed': 'A call at the provider has closed',
  'call.unconfirmed': 'The provider has not confirmed that a call was hung up',
  'budget.warned': 'A budget has reached one of its thresholds: sent once for each in a period',
  'budget.exceeded': 'A budget is used up',
  'budget.raised': 'A budget that was used up has been raised and has something left again',
  'budget.reset': 'A new period of a budget began, after one in which operators were told about it',
  'usage.recorded': 'Usage was counted: an entry of the ledger; a call has one for each response',
  'key.issued': 'A widget key was issued',
  'key.revoked': 'A widget key was revoked',
  'key.paused': 'A widget key was paused',
  'login.succeeded': 'A user logged in to the console; only for webhooks of the installation',
  'login.locked': 'A login code was tried in vain as often as is allowed; only for webhooks of the installation',
  'meter.drift': 'A day’s counted usage differs from the provider’s bill; only for webhooks of the installation',
} as const;

export type WebhookType = keyof typeof WEBHOOK_TYPES;

/** The types that an endpoint can subscribe to. */
export const webhookTypes = Object.keys(WEBHOOK_TYPES) as [WebhookType, ...WebhookType[]];

/** The type of the event that is sent on request, to try an endpoint; it needs no subscription. */
export const TEST_TYPE = 'webhook.test';

/** The most endpoints that a tenant, or the installation, may have. */
export const MAX_ENDPOINTS = 10;

/** Other mistakes in an address are reported by the rule for all servers that tenants name (`kernel/addresses.ts`). */
export const webhookUrl = z
  .string('must be an address such as https://hooks.example.com/switchboard')
  .max(1024, 'must be at most 1024 characters');

export const wantedTypes = z
  .array(z.enum(webhookTypes, `must be one of ${webhookTypes.join(', ')}`), 'must be a list of types')
  .min(1, 'must name a type')
  .max(webhookTypes.length, 'must name each type once');
