import type { CallRecord } from '../../../machines/voice-call/types.ts';
import type { HeldCallDeps } from '../deps.ts';
import type { Conversation } from '../conversation.ts';

export type ToolRunnerDeps = Pick<
  HeldCallDeps,
  'metering' | 'budgets' | 'serverTools' | 'sessions' | 'clock' | 'after' | 'events' | 'onError'
>;

/** The voice call in which tools are called. */
export interface ToolsCall {
  readonly record: CallRecord;
  readonly conversation: Pick<Conversation, 'add' | 'respond' | 'lastWords'>;
  /** Charges for a tool call under its id, once however often it is called. */
  readonly charge: (toolCallId: string, microDollars: number) => void;
}

/** Hears which tool calls are asked for and which tool runs. */
export interface ToolListener {
  /** The provider's ids of tool calls that are answered here, or were by the node that held the call before. */
  readonly asked: (toolCallIds: readonly string[]) => void;
  /** Which tool runs; undefined once none does any more. */
  readonly running: (tool: string | undefined) => void;
}
