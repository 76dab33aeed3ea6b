import type { EndReason } from '../../machines/voice-session/end-reasons.ts';
import type { ErrorAdditions, ErrorBody } from './errors/error-body.ts';
import { ERROR_CODES, type Code } from './errors/error-codes.ts';
import type { Language } from './error-translations/languages.ts';
import { VISITOR_MESSAGES } from './error-translations/by-language.ts';
import type { Why } from './errors/error-row.ts';

/** An expected "no": returned, never thrown. `error` is written for developers and says what to do. */
export class Refusal {
  readonly code: Code;
  readonly error: string;
  readonly additions: ErrorAdditions;
  /** For operators only; no reply includes it. */
  readonly why: Why;

  constructor(code: Code, error: string, additions: ErrorAdditions = {}, why: Why = {}) {
    this.code = code;
    this.error = error;
    this.additions = additions;
    this.why = why;
  }

  /** The same refusal with more facts; those it already has take precedence. */
  because(why: Why): Refusal {
    return new Refusal(this.code, this.error, this.additions, { ...why, ...this.why });
  }

  get status(): number {
    return ERROR_CODES[this.code].status;
  }

  /** What an end user reads about it. */
  wordsIn(language: Language): string {
    const { reason, saysEnd = reason, budget } = this.additions;
    const { errors, budgets, ends } = VISITOR_MESSAGES[language];
    // When the budget's next period begins is more useful than that the session has ended.
    if (budget !== undefined) return budgets[budget.period];
    // A process of a later version may have ended the session for a reason that this one does not know.
    return (ends as Readonly<Record<string, string | undefined>>)[saysEnd ?? ''] ?? errors[this.code];
  }

  /** The body of the reply; JSON omits the fields that are undefined. */
  bodyIn(language: Language): ErrorBody {
    const { retryAfter, reason, maxMinutes, counted, usage, budget, matched, challenge, details } = this.additions;
    return {
      error: this.error,
      code: this.code,
      userMessage: this.wordsIn(language),
      retryAfter,
      reason,
      maxMinutes,
      counted,
      usage,
      budget,
      matched,
      challenge,
      details,
    };
  }
}

/** The refusal of a request with one wrong field, parameter or header. */
export function wrongField(path: string, message: string, why: Why = {}): Refusal {
  return new Refusal('INVALID_REQUEST', `${path}: ${message}`, { details: [{ path, message }] }, why);
}

/** The refusal of a request with several wrong fields; FORBIDDEN if the caller may not set them. */
export function wrongFields(
  code: 'INVALID_REQUEST' | 'FORBIDDEN',
  details: readonly { readonly path: string; readonly message: string }[],
): Refusal {
  return new Refusal(code, details.map(({ path, message }) => `${path}: ${message}`).join('; '), { details });
}

/** The refusal of a caller who must wait until `untilMs`; `retryAfter` is in whole seconds, at least 1. @param error what was exceeded */
export function mustWait(error: string, untilMs: number, atMs: number, why: Why = {}): Refusal {
  const retryAfter = Math.max(1, Math.ceil((untilMs - atMs) / 1000));
  return new Refusal('RATE_LIMIT_EXCEEDED', `${error}; wait ${retryAfter} s.`, { retryAfter }, why);
}

/** Does not tell whether the session is unknown or belongs to somebody else, on purpose. */
export function sessionNotFound(): Refusal {
  return new Refusal('SESSION_NOT_FOUND', 'No such session for this e-mail address; check sm_session_id and email.');
}

/** The same for operators, who refer to a session by its ref. */
export function noSuchSession(): Refusal {
  return new Refusal('SESSION_NOT_FOUND', 'There is no such session, or it is of a tenant that you may not see.');
}

/** The final refusal after a session has ended, the same for every later heartbeat (docs/contract.md, section 5.6). */
export function endedRefusal(
  reason: EndReason,
  maxMinutes: number,
  error = `The session has ended (${reason}); create a new one.`,
): Refusal {
  return new Refusal('SESSION_DURATION_EXCEEDED', error, { reason, maxMinutes });
}

/** What is known about the provider's failure. */
interface ProviderFault {
  readonly kind: string;
  readonly retryAfterSec: number | undefined;
}

/** The refusal when the voice provider asks to wait, does not answer in time, refuses, or gives no usable answer. */
export function upstreamRefusal(fault?: ProviderFault): Refusal {
  const { kind, retryAfterSec: retryAfter } = fault ?? {};
  if (retryAfter !== undefined) {
    const error = `The voice provider takes no more requests for the moment; wait ${retryAfter} s.`;
    return new Refusal('RATE_LIMIT_EXCEEDED', error, { retryAfter }, { layer: 'mint' });
  }
  return kind === 'timeout'
    ? new Refusal('UPSTREAM_TIMEOUT', 'The voice provider did not answer in time; try again.')
    : new Refusal(
        'UPSTREAM_ERROR',
        'The voice provider refused or gave no usable answer; the operator finds why in the log.',
      );
}
