import { own } from '../../protocol/error-translations/en.ts';
import type { TransientCode } from '../../protocol/errors/error-codes.ts';
import type * as Api from './api.ts';

/**
 * Messages for the visitor about failures that the SDK detects itself; every other code is the server's. They are in English only: those who
 * show other languages bring their own texts.
 */
const ownCodes: Readonly<Record<Api.OwnCode, string>> = own;

/** A failure, reported by the server or detected by this SDK. */
export class SwitchboardError extends Error implements Api.SwitchboardError {
  declare readonly code: string;
  declare readonly error: string | undefined;
  declare readonly userMessage: string;
  declare readonly status: number;
  declare readonly retryAfter: number | undefined;
  declare readonly reason: string | undefined;
  declare readonly challenge: Api.RefusalBody['challenge'];
  declare readonly text: string | undefined;

  constructor(body: Api.RefusalBody & { readonly text?: string | undefined }, status = 0) {
    super(body.error ?? body.code);
    Object.assign(this, body, { name: 'SwitchboardError', status });
  }
}

/**
 * A failure that the SDK detected. If its cause is a `SwitchboardError`, that error is returned instead.
 * @param cause for the developer, if the code does not say everything
 */
export function failure(code: Api.OwnCode, cause: unknown = code, status = 0): SwitchboardError {
  return cause instanceof SwitchboardError
    ? cause
    : new SwitchboardError({ code, error: String(cause), userMessage: ownCodes[code] }, status);
}

/** An error in the server's words, or with `code` if a proxy, a provider or the page's back end answered in its own. */
export function refusal(
  body: Partial<Api.RefusalBody> | undefined,
  code: Api.OwnCode,
  cause: string,
  status?: number,
): SwitchboardError {
  return body?.userMessage ? new SwitchboardError(body as Api.RefusalBody, status) : failure(code, cause, status);
}

/** The text of a successful reply. @throws SwitchboardError for any other reply, see `refusal` */
export async function textOf(response: Response, code: Api.OwnCode): Promise<string> {
  const text = await response.text();
  if (response.ok) return text;
  let body: Api.RefusalBody | undefined;
  try {
    body = JSON.parse(text);
  } catch {
    // The texts of other servers are for developers only.
  }
  throw refusal(body, code, text, response.status);
}

/** The compiler reports a code that is transient in the server's table and missing here. */
const transient: Readonly<Record<TransientCode | 'NETWORK_ERROR', 1>> = {
  NETWORK_ERROR: 1,
  SERVICE_UNAVAILABLE: 1,
  INTERNAL_ERROR: 1,
  RATE_LIMIT_EXCEEDED: 1,
};

/** Whether the same request may succeed later. */
export function isTransient(error: unknown): error is SwitchboardError {
  return ((error as SwitchboardError | undefined)?.code as string) in transient;
}
