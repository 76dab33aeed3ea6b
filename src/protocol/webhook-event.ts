/**
 * What webhooks tell: a row for each type, with what has happened then (docs/contract.md, section 12). Where a fact of the type is saved the
 * statement that saves it tells of it (`stores/webhooks/told.ts`).
 */
export const WEBHOOK_TYPES = {
  'session.started': 'A session was opened',
  'session.idle': 'Nobody was heard in a session for its idle time',
  'session.stale': 'A session got no heartbeat for its grace',
  'session.ended': 'A session has ended; what its calls used last may not be counted yet',
  'session.settled': 'All that an ended session used is counted: once a session, and the one to bill by',
  'call.opened': 'A call at the provider is open',
  'call.closed': 'A call at the provider is over',
  'call.unconfirmed': 'The provider has not confirmed that a call was hung up',
  'budget.warned': 'A budget has reached one of its thresholds: each once in its period',
  'budget.exceeded': 'A budget is used up',
  'budget.raised': 'A budget that was used up was raised, and has something left again',
  'budget.reset': 'A budget that was told of begins anew, because its period is over',
  'usage.recorded': 'Usage was counted: an entry of the ledger, of which a call has one a response',
  'key.issued': 'A widget key was issued',
  'key.revoked': 'A widget key was revoked',
  'key.paused': 'A widget key was paused',
  'login.succeeded': 'Somebody logged in to the console; to webhooks of the installation alone',
  'meter.drift': 'What was counted of a day is not what the provider bills; to webhooks of the installation alone',
} as const;

export type WebhookType = keyof typeof WEBHOOK_TYPES;

/** The types that an endpoint may want. */
export const webhookTypes = Object.keys(WEBHOOK_TYPES) as [WebhookType, ...WebhookType[]];

/** What somebody asks for to try an endpoint: it needs no subscription. */
export const TEST_TYPE = 'webhook.test';
