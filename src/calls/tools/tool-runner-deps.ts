import type { CallRecord } from '../../../machines/voice-call/types.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Metering } from '../../metering/contract.ts';
import type { ToolCalls } from '../../stores/tool-calls/contract.ts';
import type { Events } from '../../telemetry/events.ts';
import type { CallSessions } from '../contract.ts';
import type { Conversation } from '../conversation.ts';
import type { ReservedPricesDeps } from './reserved-prices.ts';
import type { ToolSender } from './tool-sender.ts';

/** What a node calls tools of the server with. */
export interface ServerToolParts {
  readonly sender: Pick<ToolSender, 'send'>;
  readonly store: ToolCalls;
  /** How many tool calls a session of the agent may have, over all its tools. */
  readonly perSession: (tenantId: string, agentId: string | null) => number;
}

export interface ToolRunnerDeps extends ReservedPricesDeps {
  readonly metering: Pick<Metering, 'uncounted' | 'flushCall'>;
  readonly serverTools: ServerToolParts;
  readonly sessions: Pick<CallSessions, 'find'>;
  readonly clock: Clock;
  readonly after: (ms: number, act: () => void) => () => void;
  readonly events: Pick<Events, 'toolCalled'>;
  readonly onError: (error: unknown) => void;
}

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
