import { own } from '../../protocol/languages/en.ts';
import type { TransientCode } from '../../protocol/error-codes.ts';
import type * as Api from './api.ts';

/**
 * What the SDK finds by itself, in words for the visitor; every other code is the server's. English alone: whoever shows other languages
 * has their words beside these.
 */
const ownCodes: Readonly<Record<Api.OwnCode, string>> = own;

/** What a client is told of a failure, by the server or by this SDK. */
export class SwitchboardError extends Error implements Api.SwitchboardError {
  declare readonly code: string;
  declare readonly userMessage: string;
  declare readonly status: number;
  declare readonly retryAfter: number | undefined;
  declare readonly reason: string | undefined;

  constructor(body: Api.RefusalBody, status = 0) {
    super(body.error ?? body.code);
    this.name = 'SwitchboardError';
    this.code = body.code;
    this.userMessage = body.userMessage;
    this.status = status;
    this.retryAfter = body.retryAfter;
    this.reason = body.reason;
  }
}

/** A failure that the SDK found. @param cause for the developer, where the code does not say it all */
export function failure(code: Api.OwnCode, cause: unknown = code, status = 0): SwitchboardError {
  return new SwitchboardError({ code, error: String(cause), userMessage: ownCodes[code] }, status);
}

/** A reply other than success: in the server's words, or as `code` where a proxy or a provider has answered in its own. */
export function refusal(text: string, status: number, code: Api.OwnCode): SwitchboardError {
  try {
    const body = JSON.parse(text);
    if (body.userMessage) return new SwitchboardError(body, status);
  } catch {
    // The words of others are for developers.
  }
  return failure(code, text, status);
}

/** The compiler finds a code that the server's table calls transient and that is not here. */
const transient: Readonly<Record<TransientCode | 'NETWORK_ERROR', 1>> = {
  NETWORK_ERROR: 1,
  SERVICE_UNAVAILABLE: 1,
  INTERNAL_ERROR: 1,
  RATE_LIMIT_EXCEEDED: 1,
};

/** Whether the same request may succeed later. */
export function isTransient(error: unknown): boolean {
  return error instanceof SwitchboardError && error.code in transient;
}
