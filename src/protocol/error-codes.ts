import type { ErrorAdditions } from './error-body.ts';

interface CodeRow {
  readonly status: number;
  /** When it is the answer: the words of docs/contract.md, section 2.3. */
  readonly meaning: string;
  /** A client may send the same request again by itself, after a pause. */
  readonly isTransient?: true;
  /** An error as a caller may meet it, for the interface description. */
  readonly example: ErrorAdditions & { readonly error: string };
}

/**
 * Every code that a client can receive, one row each (docs/contract.md, section 2.3). It is the only list: types, replies and the
 * interface description derive from it. What an end user reads of it is in `languages/`.
 */
export const ERROR_CODES = {
  INVALID_REQUEST: {
    status: 400,
    meaning: 'malformed JSON, a wrong field, parameter or header',
    example: {
      error: 'sm_session_id: is missing',
      details: [{ path: 'sm_session_id', message: 'is missing' }],
    },
  },
  AUTH_REQUIRED: {
    status: 401,
    meaning: 'no valid credential where one is needed; a ticket that is unknown, spent or over',
    example: { error: 'Log in to the console, or send a service token.' },
  },
  INVALID_OTP: {
    status: 401,
    meaning: 'wrong, expired or used code',
    example: { error: 'The code is wrong, used, or has expired; ask for a new one.' },
  },
  INVALID_WIDGET_KEY: {
    status: 401,
    meaning: "the widget key is unknown, revoked or another tenant's",
    example: { error: 'Send a widgetKey, or log in to the console.' },
  },
  KEY_PAUSED: {
    status: 403,
    meaning: 'the widget key is paused: it opens no new sessions for the time being',
    example: { error: 'This widgetKey is paused: it opens no sessions until it is resumed.' },
  },
  BOT_BLOCKED: {
    status: 403,
    meaning: 'the bot verdict is negative',
    example: { error: 'The bot verdict on this request is negative.' },
  },
  FORBIDDEN: {
    status: 403,
    meaning:
      'logged in, but without a role that may do this in the operator API; an agent or an override that the key does not allow; a tenant that does not admit this console user; `/dev/mail` from another machine',
    example: { error: 'No such tenant admits you; ask its administrator.' },
  },
  ORIGIN_MISMATCH: {
    status: 403,
    meaning: 'the origin does not match the key, or may not use the console cookie',
    example: { error: 'This widgetKey works only from the origin it is bound to, not from https://other.example.' },
  },
  SESSION_DURATION_EXCEEDED: {
    status: 403,
    meaning: 'the session has ended; `reason` tells why',
    example: { error: 'The session is over (duration_exceeded).', reason: 'duration_exceeded', maxMinutes: 15 },
  },
  NOT_FOUND: {
    status: 404,
    meaning: 'unknown path',
    example: { error: 'There is no /api/sessions; see /docs for all paths.' },
  },
  SESSION_NOT_FOUND: {
    status: 404,
    meaning: "unknown session, or an e-mail address that is not the session's: indistinguishable on purpose",
    example: { error: 'No such session, or the e-mail is not its own.' },
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    meaning: 'with `Allow`',
    example: { error: 'GET is not possible here; use POST, OPTIONS.' },
  },
  AMBIGUOUS: {
    status: 409,
    meaning: 'a ref that two sessions share',
    example: { error: 'Several sessions have this ref; name one by its whole id.' },
  },
  COUNT_CHANGED: {
    status: 409,
    meaning: 'more sessions match than were counted before; `matched` says how many',
    example: { error: '1431 sessions match now, and 1204 were expected; count them again with dryRun.', matched: 1431 },
  },
  CONFLICT: {
    status: 409,
    meaning:
      'an id that is taken, one key more than its tenant may have, or a `batchId` of an act that somebody else began',
    example: { error: 'The tenant acme has a widget key with the id "shop" already; choose another id.' },
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    meaning: 'a body of more than 64 KiB; an offer of more than 32 KiB',
    example: { error: 'A body may have at most 64 KiB.' },
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    meaning: 'another content type or charset, or a compressed body',
    example: { error: 'Send the body as Content-Type: application/json in UTF-8.' },
  },
  IDEMPOTENCY_MISMATCH: {
    status: 422,
    meaning: 'an `Idempotency-Key` reused with another body',
    example: { error: 'This Idempotency-Key came with another body before.' },
  },
  USAGE_IMPLAUSIBLE: {
    status: 422,
    meaning: 'more usage than a session of this length may report; nothing was counted',
    example: {
      error: 'More than this session can have used in its time; nothing was counted (WIDGET_MAX_TOKENS_PER_MINUTE).',
    },
  },
  QUERY_TOO_BROAD: {
    status: 422,
    meaning: 'more than one query of the operator API may read',
    example: { error: 'A range has at most 31 days here.' },
  },
  DAILY_QUOTA_EXCEEDED: {
    status: 429,
    meaning: 'a total of the day is used up, or what is left of it is held by sessions that talk',
    example: { error: "The day's tokens or dollars are used up." },
  },
  CALL_IN_PROGRESS: {
    status: 409,
    meaning: 'another call of the session is being opened at this moment',
    example: { error: 'Another call of this session is being opened; wait for its answer.' },
  },
  MAX_CONCURRENT_SESSIONS: {
    status: 429,
    meaning: 'too many sessions are open',
    example: { error: '10 sessions are open already; end one with /api/realtime/end.' },
  },
  RATE_LIMIT_EXCEEDED: {
    status: 429,
    meaning: 'too many requests, sessions a minute or codes an hour, or the provider asks to wait',
    isTransient: true,
    example: { error: 'More than 60 requests in a minute; wait 30 s.', retryAfter: 30 },
  },
  INTERNAL_ERROR: {
    status: 500,
    meaning: 'a fault, never with internals; the cause is in the log under the request id',
    isTransient: true,
    example: { error: 'An unexpected fault; the operator finds its cause under request id req_AMumvXlM6.' },
  },
  UPSTREAM_ERROR: {
    status: 502,
    meaning: 'the provider refused, or answered nonsense',
    example: {
      error: 'The voice provider refused or gave no usable answer; the operator finds why in the log.',
    },
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    meaning: 'a dependency is away; with `Retry-After`',
    isTransient: true,
    example: { error: 'A part of the service (database) is away; try again shortly.', retryAfter: 2 },
  },
  UPSTREAM_TIMEOUT: {
    status: 504,
    meaning: 'the provider did not answer in time',
    example: { error: 'The voice provider did not answer in time; try again.' },
  },
} as const satisfies Record<string, CodeRow>;

export type Code = keyof typeof ERROR_CODES;

/** Codes after which the same request may succeed later. */
export type TransientCode = {
  [C in Code]: (typeof ERROR_CODES)[C] extends { readonly isTransient: true } ? C : never;
}[Code];
