import type { ClientEvent, Settings, ToldEvent } from './channel.ts';

/** Why a call is over: it reached its maximum length, one side hung up, or the page cannot be reached any longer. */
export type OverReason = 'expired' | 'remote' | 'lost';

/** What the agent of a call is created with. */
export interface EchoSetup {
  readonly model: string;
  readonly voice: string;
  readonly instructions?: string | undefined;
  readonly tools: readonly { readonly name: string }[];
  /** With `detect: 'push'`, only the page decides on turns. An object as `transcribe` asks for what the visitor says in words. */
  readonly behaviour?:
    | {
        readonly turns?: { readonly detect?: string | undefined } | undefined;
        readonly transcribe?: object | false | undefined;
      }
    | null
    | undefined;
  /** The most tokens that one response may have; undefined for no limit. */
  readonly maxOutputTokens: number | undefined;
}

/** What happens in a call, as attached connections see it. */
export type EchoEvent =
  /** Somebody is speaking, or a response begins. */
  | { readonly type: 'activity' }
  /** The agent begins or stops speaking. */
  | { readonly type: 'speaking' | 'listening' }
  /** An event of OpenAI's realtime API, as the page receives it. */
  | { readonly type: 'told'; readonly event: ToldEvent }
  /** The page changed the session. `created`: how it was before any change; `maxOutputTokens`: the limit in force, if any. */
  | {
      readonly type: 'configChanged';
      readonly session: Settings;
      readonly created: Settings;
      readonly maxOutputTokens: number | undefined;
    }
  /** The session has been reset to how it was created. */
  | { readonly type: 'configRestored' }
  | { readonly type: 'responseStarted'; readonly id: string; readonly maxOutputTokens: number | undefined }
  /** `usage`: as sent to the page, in the form of OpenAI's realtime API. */
  | { readonly type: 'responseDone'; readonly id: string; readonly usage: object }
  /** The call has ended, and the connection closes after this event. */
  | { readonly type: 'over'; readonly reason: OverReason };

/** A connection to a call besides its page's, which receives the call's events. */
export interface EchoConnection {
  /** Resolves when either side has closed the connection. */
  readonly closed: Promise<'left'>;
  /** Limits the tokens of each response from now on. */
  limitResponses(maxOutputTokens: number): void;
  /** Resets the session to how it was created. */
  restoreConfig(): void;
  /** Takes an event of OpenAI's realtime API, as a page would send it. */
  take(event: ClientEvent): void;
  /** Cuts off the current response. */
  cancelResponse(): void;
  close(): void;
}
