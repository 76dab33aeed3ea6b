import type { KeptTrace } from '../../kernel/trace-context.ts';
import type { Behaviour } from '../../protocol/behaviour.ts';
import type { Tool } from '../../protocol/agent.ts';
import type { CallMode, DataChannel } from '../../protocol/call.ts';
import type { Metadata } from '../../protocol/create.ts';
import type { ModelPrice } from '../../protocol/price.ts';

/** What a session was created with, besides its record: what its calls are opened with, and what its creator noted about it. */
export interface SessionSetup {
  readonly sessionId: string;
  readonly callMode: CallMode;
  readonly model: string;
  readonly voice: string;
  readonly instructions: string | null;
  readonly tools: readonly Tool[];
  /** Null if all of it is the provider's default. */
  readonly behaviour: Behaviour | null;
  /** Whether the page gets a data channel to the provider. */
  readonly dataChannel: DataChannel;
  /** Whether its key has `allowOverrides: false`: the page may change nothing about the session, even if it has a data channel. */
  readonly forbidsOverrides: boolean;
  /** The agent's own price for the model. */
  readonly price: ModelPrice | null;
  readonly metadata: Metadata | null;
  /** Given only to the servers of its tools; sealed for this session, in base64. */
  readonly sealedContext: string | null;
  /** The version of its agent's definition, see tenants/agents.ts; null without an agent. */
  readonly agentVersion: string | null;
  /** Null if the session is not traced. */
  readonly trace: KeptTrace | null;
  readonly createdAtMs: number;
}

/** Setups are inserted with their sessions, see `VoiceHistory`. @throws Unavailable when the database is away. */
export interface SessionSetups {
  find(sessionId: string): Promise<SessionSetup | undefined>;
}
