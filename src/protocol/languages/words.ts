import type { Language } from './all.ts';

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

/** One text in each language: the compiler finds one that is missing. */
export type InEach = Readonly<Record<Language, string>>;

/** What an end user reads of each failure that the SDK finds, in one language: a browser loads no other. */
export type OwnWords = Readonly<Record<OwnCode, string>>;
