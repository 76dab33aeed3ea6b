import { Refusal, type Code } from '../kernel/errors.ts';
import { edgeRefusal } from '../limits/edge.ts';

/** One refusal of each code, as a caller may meet it: the examples of the interface description. */
export const errorExamples: Readonly<Record<Code, Refusal>> = {
  INVALID_REQUEST: new Refusal('INVALID_REQUEST', 'sm_session_id: is missing', {
    details: [{ path: 'sm_session_id', message: 'is missing' }],
  }),
  AUTH_REQUIRED: new Refusal('AUTH_REQUIRED', 'Log in to the console, or send a service token.'),
  INVALID_OTP: new Refusal('INVALID_OTP', 'The code is wrong, used, or has expired; ask for a new one.'),
  INVALID_WIDGET_KEY: new Refusal('INVALID_WIDGET_KEY', 'Send a widgetKey, or log in to the console.'),
  FORBIDDEN: new Refusal('FORBIDDEN', 'No such tenant admits you; ask its administrator.'),
  BOT_BLOCKED: new Refusal('BOT_BLOCKED', 'The bot verdict on this request is negative.'),
  ORIGIN_MISMATCH: new Refusal(
    'ORIGIN_MISMATCH',
    'This widgetKey works only from the origin it is bound to, not from https://other.example.',
  ),
  SESSION_DURATION_EXCEEDED: new Refusal('SESSION_DURATION_EXCEEDED', 'The session is over (duration_exceeded).', {
    reason: 'duration_exceeded',
    maxMinutes: 15,
  }),
  NOT_FOUND: new Refusal('NOT_FOUND', 'There is no /api/sessions; see /docs for all paths.'),
  SESSION_NOT_FOUND: new Refusal('SESSION_NOT_FOUND', 'No such session, or the e-mail is not its own.'),
  AMBIGUOUS: new Refusal('AMBIGUOUS', 'Several sessions have this ref; name one by its whole id.'),
  METHOD_NOT_ALLOWED: new Refusal('METHOD_NOT_ALLOWED', 'GET is not possible here; use POST, OPTIONS.'),
  PAYLOAD_TOO_LARGE: new Refusal('PAYLOAD_TOO_LARGE', 'A body may have at most 64 KiB.'),
  UNSUPPORTED_MEDIA_TYPE: new Refusal(
    'UNSUPPORTED_MEDIA_TYPE',
    'Send the body as Content-Type: application/json in UTF-8.',
  ),
  IDEMPOTENCY_MISMATCH: new Refusal('IDEMPOTENCY_MISMATCH', 'This Idempotency-Key came with another body before.'),
  USAGE_IMPLAUSIBLE: new Refusal(
    'USAGE_IMPLAUSIBLE',
    'More than this session can have used in its time; nothing was counted (WIDGET_MAX_TOKENS_PER_MINUTE).',
  ),
  RATE_LIMIT_EXCEEDED: edgeRefusal({ allowed: false, limit: 60, remaining: 0, resetAtMs: 30_000 }, 0),
  MAX_CONCURRENT_SESSIONS: new Refusal(
    'MAX_CONCURRENT_SESSIONS',
    '10 sessions are open already; end one with /api/realtime/end.',
  ),
  DAILY_QUOTA_EXCEEDED: new Refusal('DAILY_QUOTA_EXCEEDED', "The day's tokens or dollars are used up."),
  INTERNAL_ERROR: new Refusal(
    'INTERNAL_ERROR',
    'An unexpected fault; the operator finds its cause under request id req_AMumvXlM6.',
  ),
  UPSTREAM_ERROR: new Refusal(
    'UPSTREAM_ERROR',
    'The voice provider refused or gave no usable answer; the operator finds why in the log.',
  ),
  UPSTREAM_TIMEOUT: new Refusal('UPSTREAM_TIMEOUT', 'The voice provider did not answer in time; try again.'),
  SERVICE_UNAVAILABLE: new Refusal(
    'SERVICE_UNAVAILABLE',
    'A part of the service (database) is away; try again shortly.',
    { retryAfter: 2 },
  ),
};
