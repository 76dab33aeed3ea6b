import type { EndReason } from '../../../machines/voice-session/end-reasons.ts';
import type { BudgetPeriod } from '../budget.ts';
import type { Code } from '../error-codes.ts';

/** The failures that the browser's SDK finds by itself, as its published types and docs/widget.md have them. */
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

/** What an end user reads of each failure that the SDK finds, in one language: a browser loads no other. */
export type OwnWords = Readonly<Record<OwnCode, string>>;

/** What an end user reads of each refusal of the server. */
export type ErrorWords = Readonly<Record<Code, string>>;

/** What an end user reads when a session has ended, by why it did. */
export type EndWords = Readonly<Record<EndReason, string>>;

/** What an end user reads where nothing is left of a budget, by when it begins anew. */
export type BudgetWords = Readonly<Record<BudgetPeriod, string>>;

/** What an end user reads in one language, whoever says it: the compiler finds a text that is missing. */
export interface LanguageWords {
  readonly own: OwnWords;
  readonly errors: ErrorWords;
  readonly ends: EndWords;
  readonly budgets: BudgetWords;
}
