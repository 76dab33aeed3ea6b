import { ReplyDeadlineExceeded, Unavailable } from '../kernel/errors.ts';
import { DEFAULT_LANGUAGE } from '../protocol/visitor-messages/languages.ts';
import { Refusal } from '../protocol/refusal.ts';
import { barePolicy, httpsOnly, noSniff, pageHeaders } from './security-headers.ts';
import { invalid } from './invalid-request.ts';
import { JSON_TYPE, type HttpReply } from './message.ts';

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
