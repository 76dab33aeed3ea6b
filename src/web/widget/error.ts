import type * as Api from './api.ts';

/** The body of a refusal, as the server writes it. */
export interface RefusalBody {
  readonly code: string;
  /** For a developer. */
  readonly error?: string;
  readonly userMessage: string;
  readonly retryAfter?: number;
  /** Why a session is over. */
  readonly reason?: string;
}

/** What a client is told of a failure, by the server or by this SDK. */
export class SwitchboardError extends Error implements Api.SwitchboardError {
  readonly code: string;
  readonly userMessage: string;
  readonly status: number;
  readonly retryAfter: number | undefined;
  readonly reason: string | undefined;

  constructor(body: RefusalBody, status = 0) {
    super(body.error ?? body.code);
    this.name = 'SwitchboardError';
    this.code = body.code;
    this.userMessage = body.userMessage;
    this.status = status;
    this.retryAfter = body.retryAfter;
    this.reason = body.reason;
  }
}

/** No answer, or none that Switchboard wrote. */
export function noConnection(cause: unknown): SwitchboardError {
  return new SwitchboardError({
    code: 'NETWORK_ERROR',
    error: String(cause),
    userMessage: 'No connection. Please check your network.',
  });
}

/** Whether the same request may succeed later. */
export function isTransient(error: unknown): boolean {
  const codes = ['NETWORK_ERROR', 'SERVICE_UNAVAILABLE', 'INTERNAL_ERROR', 'RATE_LIMIT_EXCEEDED'];
  return error instanceof SwitchboardError && codes.includes(error.code);
}
