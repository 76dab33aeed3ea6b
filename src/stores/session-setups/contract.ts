import type { KeptTrace } from '../../kernel/trace-context.ts';
import type { Behaviour } from '../../protocol/behaviour.ts';
import type { Tool } from '../../protocol/agent.ts';
import type { CallMode, DataChannel } from '../../protocol/call.ts';
import type { Metadata } from '../../protocol/create.ts';
import type { ModelPrice } from '../../protocol/price.ts';

/** What a session was created with, beside its record: what its calls are opened with, and what its creator noted on it. */
export interface SessionSetup {
  readonly sessionId: string;
  readonly callMode: CallMode;
  readonly model: string;
  readonly voice: string;
  readonly instructions: string | null;
  readonly tools: readonly Tool[];
  /** Null where all of it is the provider's default. */
  readonly behaviour: Behaviour | null;
  /** Whether the page gets a data channel to the provider. */
  readonly dataChannel: DataChannel;
  /** Whether its key has `allowOverrides: false`: the page may change nothing of what the session is, also where it has a data channel. */
  readonly forbidsOverrides: boolean;
  /** The agent's own price of the model. */
  readonly price: ModelPrice | null;
  readonly metadata: Metadata | null;
  /** What the servers of its tools are given and nobody else, sealed for this session, in base64. */
  readonly sealedContext: string | null;
  /** The definition that its agent had, see tenants/agent-version.ts; null without an agent. */
  readonly agentVersion: string | null;
  /** Null where it is not traced. */
  readonly trace: KeptTrace | null;
  readonly createdAtMs: number;
}

/** They are inserted with their sessions, see `VoiceHistory`. @throws Unavailable when the database is away. */
export interface SessionSetups {
  find(sessionId: string): Promise<SessionSetup | undefined>;
}
