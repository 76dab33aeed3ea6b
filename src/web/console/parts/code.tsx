import type { Code as ErrorCode } from '../../../protocol/error-codes.ts';
import { Parts } from './text-parts.tsx';

/** An error code. */
export function Code({ code }: { readonly code: string }) {
  return (
    <code title={codeWords(code)}>
      <Parts text={code} />
    </code>
  );
}

/** What each error code means, in few words. */
const CODES: Readonly<Record<ErrorCode, string>> = {
  INVALID_REQUEST: 'a field, a parameter or a header is wrong',
  AUTH_REQUIRED: 'nobody is logged in',
  INVALID_OTP: 'a wrong or old login code',
  INVALID_WIDGET_KEY: 'an unknown or revoked key',
  KEY_PAUSED: 'a paused key',
  SERVICE_STOPPED: 'the emergency stop',
  BOT_BLOCKED: 'judged a bot',
  FORBIDDEN: 'may not do this',
  ORIGIN_MISMATCH: 'from a page that may not',
  SESSION_DURATION_EXCEEDED: 'the session had ended before',
  NOT_FOUND: 'nothing at this path',
  SESSION_NOT_FOUND: 'an unknown session, or without its proof',
  METHOD_NOT_ALLOWED: 'the path takes another method',
  AMBIGUOUS: 'several sessions are named alike',
  CONFLICT: 'it conflicts with what already exists',
  COUNT_CHANGED: 'more matched than were counted',
  QUERY_TOO_BROAD: 'too much to read at once',
  PAYLOAD_TOO_LARGE: 'the body is too large',
  UNSUPPORTED_MEDIA_TYPE: 'another content type is wanted',
  IDEMPOTENCY_MISMATCH: 'the same key for another request',
  RESUME_REFUSED: 'a page that could not go on',
  USAGE_IMPLAUSIBLE: 'more usage than there can be',
  DAILY_QUOTA_EXCEEDED: 'a ceiling of the day is reached',
  CALL_NOT_OPEN: 'no call is open and heard',
  TOOL_UNKNOWN: 'no such tool waits for an answer',
  CALL_IN_PROGRESS: 'another call is being opened',
  MAX_CONCURRENT_SESSIONS: 'too many sessions at once',
  RATE_LIMIT_EXCEEDED: 'too many requests in a time',
  INTERNAL_ERROR: 'a fault of the service',
  UPSTREAM_ERROR: 'the provider refused',
  SERVICE_UNAVAILABLE: 'a part of the service is away',
  UPSTREAM_TIMEOUT: 'the provider did not answer in time',
};

/** Undefined for a code that this version does not know. */
function codeWords(code: string): string | undefined {
  return (CODES as Readonly<Record<string, string>>)[code];
}
