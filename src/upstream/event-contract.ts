import type { StartedResponse } from '../../machines/held-call/types.ts';
import type { TokenClasses } from '../protocol/price.ts';

/** What a provider tells of a call, in our words. */
export type UpstreamEvent =
  /** From now on the call's events are heard. */
  | { readonly type: 'ready' }
  /** Somebody speaks, or began to: the session is engaged. */
  | { readonly type: 'activity' }
  /** The agent speaks, or no longer does. */
  | { readonly type: 'speaking' | 'listening' }
  /** Somebody begins to speak, or stops. `responseId`: what of the agent's is heard, where the provider names it. */
  | {
      readonly type: 'speech';
      readonly who: Speaker;
      readonly isOn: boolean;
      readonly responseId?: string | undefined;
    }
  /** What the visitor said until we asked for it is a turn of the conversation. */
  | { readonly type: 'inputCommitted' }
  /** The visitor says or writes something, of which no other event tells who it is or what. */
  | { readonly type: 'words' }
  /** Words of an item: more of them, or all of them (`isWhole`), after which no more come. */
  | {
      readonly type: 'transcript';
      readonly item: string;
      readonly who: Speaker;
      readonly text: string;
      readonly isWhole: boolean;
    }
  /** The visitor interrupted an item of the agent's, of which only so much was heard. */
  | { readonly type: 'transcriptCut'; readonly item: string; readonly atMs: number }
  /** Increments. `model`: another than the call's own, where a part of the call is billed by its own rates. */
  | { readonly type: 'usage'; readonly key: string; readonly model: string | undefined; readonly tokens: TokenClasses }
  /** A part of the call that is billed by time, once. */
  | { readonly type: 'usageTime'; readonly key: string; readonly model: string | undefined; readonly ms: number }
  /** A cumulative total of connected time. */
  | { readonly type: 'usageTotal'; readonly ms: number }
  /** Usage that cannot be, dropped whole: a gap. */
  | { readonly type: 'usageUnreadable'; readonly key: string | undefined }
  /** A response runs from now on. */
  | ({ readonly type: 'responseStarted' } & StartedResponse)
  /** A response runs no more. `isTold`: its cost was told, or there is none; after its usage. */
  | { readonly type: 'responseDone'; readonly id: string; readonly isTold: boolean }
  /** A response that says something, and so runs: about so many tokens, or a part of one. */
  | { readonly type: 'responseHeard'; readonly id: string; readonly tokens: number }
  /** Nothing runs in the conversation: what was asked to end there had ended. */
  | { readonly type: 'conversationIdle' }
  /** The conversation holds an item, of about so many tokens. */
  | { readonly type: 'itemAdded'; readonly id: string; readonly tokens: number }
  /** The agent asks for one of its tools. */
  | { readonly type: 'toolCalled' }
  /** A response that was completed asks for these, all at once. */
  | { readonly type: 'toolsAsked'; readonly responseId: string; readonly calls: readonly ToolCall[] }
  /** The conversation holds the answer to a tool call, given by whomever. */
  | { readonly type: 'toolAnswered'; readonly item: string; readonly callId: string; readonly isDenial: boolean }
  /** The conversation holds an item no more, taken out by whomever. */
  | { readonly type: 'itemRemoved'; readonly item: string }
  /** The provider makes no response that we asked for. `isBusy`: because another one runs. */
  | { readonly type: 'responseRefused'; readonly isBusy: boolean; readonly instructions: string | null }
  /** A message was too long to be read, and the connection ended with it: a page can make its provider say one. */
  | { readonly type: 'frameTooLong' }
  /**
   * The session is no more what it was created with, by somebody else than us. `isAsSdk`: as the provider's own SDK changes it when it
   * connects; told once until it is restored.
   */
  | { readonly type: 'configChanged'; readonly isAsSdk: boolean }
  /** The session is again what it was created with. */
  | { readonly type: 'configRestored' }
  | { readonly type: 'rateLimit'; readonly name: string; readonly remaining: number }
  /** The call is over; nothing follows. */
  | { readonly type: 'over'; readonly reason: 'expired' | 'remote' | 'content' | 'lost' }
  /** Words only, never sentences. */
  | { readonly type: 'trouble'; readonly code: string };

export type Speaker = 'visitor' | 'agent';

/** A tool call as the model made it. */
export interface ToolCall {
  /** The provider's name of it. */
  readonly callId: string;
  readonly name: string;
  /** JSON as the model wrote it, which may be none. */
  readonly arguments: string;
}
