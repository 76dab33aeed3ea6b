import type { EndReason } from '../../../machines/voice-session/end-reasons.ts';
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

/** What an end user reads, in one language. The compiler finds a text that a language does not have. */
export interface Words {
  /** Of each code that the server answers. */
  readonly errors: Readonly<Record<Code, string>>;
  /** Of each reason why a session ends. */
  readonly ends: Readonly<Record<EndReason, string>>;
  /** Of each failure that the SDK finds. */
  readonly own: Readonly<Record<OwnCode, string>>;
}
