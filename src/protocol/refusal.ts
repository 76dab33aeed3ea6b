import type { ErrorAdditions } from './error-body.ts';
import { ERROR_CODES, type Code } from './error-codes.ts';

/** An expected "no": returned, never thrown. `error` speaks to a developer and says what to do. */
export class Refusal {
  readonly code: Code;
  readonly error: string;
  readonly additions: ErrorAdditions;

  constructor(code: Code, error: string, additions: ErrorAdditions = {}) {
    this.code = code;
    this.error = error;
    this.additions = additions;
  }

  get status(): number {
    return ERROR_CODES[this.code].status;
  }

  get userMessage(): string {
    return this.additions.userMessage ?? ERROR_CODES[this.code].userMessage;
  }
}

/** The refusal of who must wait until an instant: `retryAfter` is whole seconds and at least one. @param error what there was too much of */
export function mustWait(error: string, untilMs: number, atMs: number): Refusal {
  const retryAfter = Math.max(1, Math.ceil((untilMs - atMs) / 1000));
  return new Refusal('RATE_LIMIT_EXCEEDED', `${error}; wait ${retryAfter} s.`, { retryAfter });
}
