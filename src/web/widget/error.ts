import type { TransientCode } from '../../protocol/error-codes.ts';
import type * as Api from './api.ts';

/** What the SDK finds by itself, in words for the visitor; every other code is the server's. docs/widget.md has the same list. */
const ownCodes: Readonly<Record<Api.OwnCode, string>> = {
  NETWORK_ERROR: 'No connection. Please check your network.',
  MICROPHONE_BLOCKED: 'Please allow this page to use the microphone.',
  MICROPHONE_MISSING: 'No microphone was found. Please connect one, or close the program that uses it.',
  MICROPHONE_INSECURE: 'This page may not use the microphone, because its connection is not secure.',
  MICROPHONE_LOST: 'The microphone was switched off or unplugged.',
  SIMULATED_PROVIDER: 'The voice service is only simulated here.',
  PROVIDER_REFUSED: 'The voice service did not take the call.',
  CALL_LOST: 'The call was lost.',
};

/** What a client is told of a failure, by the server or by this SDK. */
export class SwitchboardError extends Error implements Api.SwitchboardError {
  readonly code: string;
  readonly userMessage: string;
  readonly status: number;
  readonly retryAfter: number | undefined;
  readonly reason: string | undefined;

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

/** A failure that the SDK found. @param cause for the developer */
export function failure(code: Api.OwnCode, cause: unknown, status = 0): SwitchboardError {
  return new SwitchboardError({ code, error: String(cause), userMessage: ownCodes[code] }, status);
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
