import type { StartedResponse } from '../../machines/held-call/types.ts';
import type { TokenClasses } from '../protocol/price.ts';

/** What a provider reports about a call, in our words. */
export type UpstreamEvent =
  /** From now on the call's events are heard. */
  | { readonly type: 'ready' }
  /** Somebody speaks, or began to: the session is engaged. */
  | { readonly type: 'activity' }
  /** The agent speaks, or no longer does. */
  | { readonly type: 'speaking' | 'listening' }
  /** Somebody starts or stops speaking. `responseId`: the agent's response that is heard, where the provider names it. */
  | {
      readonly type: 'speech';
      readonly who: Speaker;
      readonly isOn: boolean;
      readonly responseId?: string | undefined;
    }
  /** What the visitor said before we committed it is a turn of the conversation. */
  | { readonly type: 'inputCommitted' }
  /** The visitor says or writes something that no other event reports. */
  | { readonly type: 'words' }
  /** Words of an item: more of them, or all of them (`isWhole`), after which no more come. */
  | {
      readonly type: 'transcript';
      readonly item: string;
      readonly who: Speaker;
      readonly text: string;
      readonly isWhole: boolean;
    }
  /** The visitor interrupted an item of the agent, and heard only this much of it. */
  | { readonly type: 'transcriptCut'; readonly item: string; readonly atMs: number }
  /** Increments. `model`: set where a part of the call is billed at another model's rates. */
  | { readonly type: 'usage'; readonly key: string; readonly model: string | undefined; readonly tokens: TokenClasses }
  /** A part of the call that is billed by time; reported once. */
  | { readonly type: 'usageTime'; readonly key: string; readonly model: string | undefined; readonly ms: number }
  /** A cumulative total of connected time. */
  | { readonly type: 'usageTotal'; readonly ms: number }
  /** Impossible usage, dropped whole: a gap. */
  | { readonly type: 'usageUnreadable'; readonly key: string | undefined }
  /** A response has started. */
  | ({ readonly type: 'responseStarted' } & StartedResponse)
  /** A response has ended; follows its usage. `isTold`: its cost was reported, or there is none. */
  | { readonly type: 'responseDone'; readonly id: string; readonly isTold: boolean }
  /** A response says something, which shows that it is running: about this many tokens, or a fraction of one. */
  | { readonly type: 'responseHeard'; readonly id: string; readonly tokens: number }
  /** No response of the conversation is running: those we asked to end have ended. */
  | { readonly type: 'conversationIdle' }
  /** The conversation holds an item of about this many tokens. */
  | { readonly type: 'itemAdded'; readonly id: string; readonly tokens: number }
  /** The agent asks for one of its tools. */
  | { readonly type: 'toolCalled' }
  /** A completed response asks for these tool calls, all at once. */
  | { readonly type: 'toolsAsked'; readonly responseId: string; readonly calls: readonly ToolCall[] }
  /** The conversation holds the answer to a tool call, whoever gave it. */
  | { readonly type: 'toolAnswered'; readonly item: string; readonly callId: string; readonly isDenial: boolean }
  /** An item was removed from the conversation, whoever did it. */
  | { readonly type: 'itemRemoved'; readonly item: string }
  /** The provider refuses the response that we asked for. `isBusy`: because another one is running. */
  | { readonly type: 'responseRefused'; readonly isBusy: boolean; readonly instructions: string | null }
  /** A message was too long to be read, which ended the connection: a page can make its provider send one. */
  | { readonly type: 'frameTooLong' }
  /**
   * Somebody else changed the session from what it was created with. `isAsSdk`: the way the provider's own SDK changes it when it connects. Reported
   * once until it is restored.
   */
  | { readonly type: 'configChanged'; readonly isAsSdk: boolean }
  /** The session is again what it was created with. */
  | { readonly type: 'configRestored' }
  | { readonly type: 'rateLimit'; readonly name: string; readonly remaining: number }
  /** The call is over; nothing follows. */
  | { readonly type: 'over'; readonly reason: 'expired' | 'remote' | 'content' | 'lost' }
  /** A code, never a sentence. */
  | { readonly type: 'trouble'; readonly code: string };

export type Speaker = 'visitor' | 'agent';

/** A tool call as the model made it. */
export interface ToolCall {
  /** The provider's id of it. */
  readonly callId: string;
  readonly name: string;
  /** As the model wrote it; it may not be valid JSON. */
  readonly arguments: string;
}
