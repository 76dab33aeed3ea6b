import type { ClientEvent, Settings, ToldEvent } from './channel.ts';

/** Why a call is over: its longest time has passed, one of both hung up, or there is no way to the page any more. */
export type OverReason = 'expired' | 'remote' | 'lost';

/** What the agent is created with. */
export interface EchoSetup {
  readonly model: string;
  readonly voice: string;
  readonly instructions?: string | undefined;
  readonly tools: readonly { readonly name: string }[];
  /** Whose turn it is: with `push` only its page says so. */
  readonly behaviour?: { readonly turns?: { readonly detect?: string | undefined } | undefined } | null | undefined;
  /** Tokens that one response may have at most; undefined is without a bound. */
  readonly maxOutputTokens: number | undefined;
}

/** What happens in a call, for who is attached to it. */
export type EchoEvent =
  /** Somebody speaks, or a response begins. */
  | { readonly type: 'activity' }
  /** The agent speaks, or no longer does. */
  | { readonly type: 'speaking' | 'listening' }
  /** An event of OpenAI's realtime API, as its page hears it. */
  | { readonly type: 'told'; readonly event: ToldEvent }
  /** The page changed the session. `created`: what it was before any change; `maxOutputTokens`: the bound that holds, if there is one */
  | {
      readonly type: 'configChanged';
      readonly session: Settings;
      readonly created: Settings;
      readonly maxOutputTokens: number | undefined;
    }
  /** The session is again what it was created with. */
  | { readonly type: 'configRestored' }
  | { readonly type: 'responseStarted'; readonly id: string; readonly maxOutputTokens: number | undefined }
  /** `usage`: as the page is told it, in the words of OpenAI's realtime API. */
  | { readonly type: 'responseDone'; readonly id: string; readonly usage: object }
  /** The call has ended, and the connection closes after this event. */
  | { readonly type: 'over'; readonly reason: OverReason };

/** A connection to a call beside its page's, on which its events are heard. */
export interface EchoConnection {
  /** Resolves when the connection is closed, by whomever. */
  readonly closed: Promise<'left'>;
  /** Bounds what one response may have from now on. */
  limitResponses(maxOutputTokens: number): void;
  /** Puts the session back to what it was created with. */
  restoreConfig(): void;
  /** Takes an event of OpenAI's realtime API, as a page sends it. */
  take(event: ClientEvent): void;
  /** Cuts off the response that runs. */
  cancelResponse(): void;
  close(): void;
}
