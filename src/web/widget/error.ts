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
  declare readonly error: string | undefined;
  declare readonly userMessage: string;
  declare readonly status: number;
  declare readonly retryAfter: number | undefined;
  declare readonly reason: string | undefined;
  declare readonly challenge: Api.RefusalBody['challenge'];

  constructor(body: Api.RefusalBody, status = 0) {
    super(body.error ?? body.code);
    Object.assign(this, body, { name: 'SwitchboardError', status });
  }
}

/**
 * A failure that the SDK found, unless its cause is one that has words already.
 * @param cause for the developer, where the code does not say it all
 */
export function failure(code: Api.OwnCode, cause: unknown = code, status = 0): SwitchboardError {
  return cause instanceof SwitchboardError
    ? cause
    : new SwitchboardError({ code, error: String(cause), userMessage: ownCodes[code] }, status);
}

/** In the server's words, or as `code` where a proxy, a provider or the page's back end has answered in its own. */
export function refusal(
  body: Partial<Api.RefusalBody> | undefined,
  code: Api.OwnCode,
  cause: string,
  status?: number,
): SwitchboardError {
  return body?.userMessage ? new SwitchboardError(body as Api.RefusalBody, status) : failure(code, cause, status);
}

/** What a reply says. @throws SwitchboardError of one other than success, see `refusal` */
export async function textOf(response: Response, code: Api.OwnCode): Promise<string> {
  const text = await response.text();
  if (response.ok) return text;
  let body: Api.RefusalBody | undefined;
  try {
    body = JSON.parse(text);
  } catch {
    // The words of others are for developers.
  }
  throw refusal(body, code, text, response.status);
}

/** The compiler finds a code that the server's table calls transient and that is not here. */
const transient: Readonly<Record<TransientCode | 'NETWORK_ERROR', 1>> = {
  NETWORK_ERROR: 1,
  SERVICE_UNAVAILABLE: 1,
  INTERNAL_ERROR: 1,
  RATE_LIMIT_EXCEEDED: 1,
};

/** Whether the same request may succeed later. */
export function isTransient(error: unknown): error is SwitchboardError {
  return error instanceof SwitchboardError && error.code in transient;
}
