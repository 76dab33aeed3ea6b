import type { EndReason } from '../../../machines/voice-session/end-reasons.ts';
import type { BudgetPeriod } from '../budget.ts';
import type { Code } from '../errors/error-codes.ts';

/**
 * The languages that end users can read, by their BCP 47 tags, the default first (docs/contract.md, section 2.9). This is the only list: the
 * texts of the server and of the element, the element's build and the interface description derive from it.
 */
export const LANGUAGES = ['en', 'de', 'fr', 'es', 'pt', 'it', 'nl', 'pl', 'ja', 'zh', 'ko', 'ar'] as const;

export type Language = (typeof LANGUAGES)[number];

/** The languages that are written from right to left. */
export const RIGHT_TO_LEFT: readonly Language[] = ['ar'];

export const DEFAULT_LANGUAGE: Language = 'en';

/** The failures that the browser SDK detects itself, as listed in its published types and in docs/widget.md. */
export type OwnCode =
  | 'NETWORK_ERROR'
  | 'MICROPHONE_BLOCKED'
  | 'MICROPHONE_MISSING'
  | 'MICROPHONE_INSECURE'
  | 'MICROPHONE_LOST'
  | 'SIMULATED_PROVIDER'
  | 'PROVIDER_UNSUPPORTED'
  | 'PROVIDER_REFUSED'
  | 'CALL_LOST'
  | 'TOOL_FAILED';

/** What an end user reads for each failure that the SDK detects, in one language. A browser loads only its own. */
export type OwnWords = Readonly<Record<OwnCode, string>>;

/** What an end user reads for each refusal of the server. */
export type ErrorWords = Readonly<Record<Code, string>>;

/** What an end user reads when a session has ended, by end reason. */
export type EndWords = Readonly<Record<EndReason, string>>;

/** What an end user reads when a budget is used up, by its period. */
export type BudgetWords = Readonly<Record<BudgetPeriod, string>>;

/** Everything that an end user reads in one language, from server or browser. The compiler reports a text that is missing. */
export interface VisitorMessages {
  readonly own: OwnWords;
  readonly errors: ErrorWords;
  readonly ends: EndWords;
  readonly budgets: BudgetWords;
}
