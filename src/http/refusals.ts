import type { z } from 'zod';
import { clip } from '../kernel/text.ts';
import { issuesInWords } from '../protocol/validation-messages.ts';
import { Refusal } from '../protocol/refusal.ts';
import { ReplyDeadlineExceeded, Unavailable } from '../kernel/errors.ts';
import { DEFAULT_LANGUAGE } from '../protocol/error-translations/languages.ts';
import { barePolicy, httpsOnly, noSniff, pageHeaders, JSON_TYPE, type HttpReply } from './message.ts';
import { isViolation } from '../../machines/voice-session/end-reasons.ts';
import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import { andThen, type Eventually } from '../kernel/async.ts';
import type { Call, Result } from './route.ts';
import type { Services } from './services.ts';

/** What is wrong with one field, parameter or header. */
export interface Detail {
  readonly path: string;
  readonly message: string;
}

/** Names in refusals are cut to this length: an unknown name may be as long as the body that contains it. */
export const MAX_NAME_LENGTH = 200;

/** The refusal of a request with one fault, by default in its body as a whole. */
export function invalid(message: string, path = ''): Refusal {
  return new Refusal('INVALID_REQUEST', message, { details: [{ path, message }] });
}

/** The refusal of a request with invalid fields. @param details at least one */
export function invalidFields(details: readonly Detail[]): Refusal {
  const [first] = details;
  return new Refusal('INVALID_REQUEST', `${first?.path === '' ? 'body' : first?.path}: ${first?.message}`, { details });
}

/** Describes what is wrong with each field of a value that its schema refused. */
export function fieldsInWords(schema: z.ZodType, value: unknown): Detail[] {
  return issuesInWords(schema, value).map(({ path, message }) => ({
    path: clip(path.join('.'), MAX_NAME_LENGTH),
    message,
  }));
}

const RETRY_WHEN_AWAY_SEC = 2;

/** What a caller learns of a thrown fault: never its internals. The cause is in the log under the request id. */
export function refusalOfFault(fault: unknown, requestId: string): Refusal {
  if (fault instanceof Unavailable)
    return new Refusal(
      'SERVICE_UNAVAILABLE',
      `A part of the service (${fault.dependency}) is away; try again shortly.`,
      {
        retryAfter: RETRY_WHEN_AWAY_SEC,
      },
      { fact: `${fault.dependency} did not answer` },
    );
  if (fault instanceof ReplyDeadlineExceeded)
    return new Refusal(
      'SERVICE_UNAVAILABLE',
      'The service did not answer in time; try again shortly. What was asked may have been done.',
      { retryAfter: RETRY_WHEN_AWAY_SEC },
    );
  return new Refusal(
    'INTERNAL_ERROR',
    `An unexpected fault; the operator finds its cause under request id ${requestId}.`,
  );
}

/** The refusal of a request whose body has ambiguous boundaries; such a request never reaches the pipeline. */
export function framingRefusal(): Refusal {
  return invalid(
    'The length of the body is in doubt; send one Content-Length, or chunks that have neither extensions nor trailers.',
    'headers',
  );
}

/** The reply to a fault outside the pipeline. @param isHttps whether browsers reach the service over https */
export function faultReply(fault: unknown, requestId: string, isHttps: boolean): HttpReply {
  return plainReply(refusalOfFault(fault, requestId), requestId, isHttps);
}

/** The reply to a refusal outside the pipeline, which reads no request headers. @param isHttps whether browsers reach the service over https */
export function plainReply(refusal: Refusal, requestId: string, isHttps: boolean): HttpReply {
  const { retryAfter } = refusal.additions;
  return {
    status: refusal.status,
    headers: [
      JSON_TYPE,
      noSniff,
      ...(isHttps ? [httpsOnly] : []),
      ...pageHeaders,
      barePolicy,
      ['X-Request-Id', requestId],
      ['Cache-Control', 'no-store'],
      ['Content-Language', DEFAULT_LANGUAGE],
      ...(retryAfter === undefined ? [] : [['Retry-After', String(retryAfter)] as const]),
    ],
    body: JSON.stringify(refusal.bodyIn(DEFAULT_LANGUAGE)),
  };
}

/**
 * A refusal about a session. Where it reports a violation, the login that opened the session is destroyed (docs/contract.md,
 * section 5.9).
 */
export function refusedOf(
  { loginId, tenantId, keyId, subject }: VoiceRecord,
  refused: Refusal,
  { login, request }: Pick<Call, 'login' | 'request'>,
  { logins }: Services['identity'],
): Eventually<Result> {
  const refusal = refused.because({ tenantId, keyId, subject });
  const { code, additions } = refusal;
  // A used-up budget is not the caller's own violation: others may have used it.
  const isOwnDay = code === 'DAILY_QUOTA_EXCEEDED' && additions.budget === undefined;
  const costsLogin = isOwnDay || isViolation(additions.reason ?? null);
  // Only the login that opened the session is destroyed: an old tab must not log out a new login.
  if (!costsLogin || login === undefined || loginId !== login.id) return refusal;
  return andThen(logins.destroy(login.id, 'violation', request.atMs, request.requestId), () => ({
    refusal,
    cookie: { kind: 'clear' },
  }));
}
