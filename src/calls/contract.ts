import type { CallRecord } from '../../machines/voice-call/types.ts';
import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import type { Eventually } from '../kernel/async.ts';
import type { Refusal } from '../protocol/refusal.ts';
import type { SessionSetup } from '../stores/session-setups/contract.ts';

/** What calls need of the voice sessions. */
export interface CallSessions {
  find(id: string): Eventually<VoiceRecord | undefined>;
  /** The current records of the sessions that are found; `isWhole` is false while a store is away. */
  lookUp(ids: readonly string[]): Promise<{ readonly records: readonly VoiceRecord[]; readonly isWhole: boolean }>;
  /** Somebody spoke: the session is not idle, whatever its page says. */
  noteActivity(id: string, at: number): Eventually<unknown>;
  /**
   * A call is heard, until `untilMs` at least; `untilMs` equal to `at` says that the call is over. Meanwhile the session's heartbeats are no
   * activity.
   */
  noteHeard(id: string, at: number, untilMs: number): Eventually<unknown>;
  /** The visitor spoke or wrote at `at`: a session that waited for their first words goes on. */
  noteSpoke(id: string, at: number): Eventually<unknown>;
  end(id: string, reason: 'upstream_ended' | 'closed_by_tool', at: number): Eventually<unknown>;
}

export interface OpenCallRequest {
  readonly session: VoiceRecord;
  readonly setup: SessionSetup;
  readonly offerSdp: string;
  readonly requestId: string;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** A call that a page will open itself. */
export interface AdoptRequest {
  readonly session: VoiceRecord;
  readonly setup: SessionSetup;
  /** The call's ref, which is also its name at the provider. */
  readonly callId: string;
  readonly requestId: string;
}

export interface OpenedCall {
  readonly record: CallRecord;
  readonly answerSdp: string;
}

/** The calls that this node holds; `ofSession` finds those of all nodes. */
export interface Calls {
  /**
   * Opens a call of a session at the provider and holds it; the former call of the session is hung up first.
   * @returns a Refusal CALL_IN_PROGRESS, RATE_LIMIT_EXCEEDED (CALLS_PER_SESSION), UPSTREAM_ERROR, UPSTREAM_TIMEOUT or
   *   SESSION_DURATION_EXCEEDED; then nothing is left open
   * @throws Unavailable when the database is away
   */
  open(request: OpenCallRequest): Promise<OpenedCall | Refusal>;
  /** All calls of a session, the newest first. @throws Unavailable when the database is away */
  ofSession(sessionId: string): Promise<readonly CallRecord[]>;
  /** How many responses of a call are running, whichever node holds it; undefined where that is not known. Takes half a second at most. */
  runningResponses(call: Pick<CallRecord, 'id' | 'sessionId'>): Promise<number | undefined>;
}

/** What became of a whisper: the provider was told, no open call is heard, or no node answered, so that the outcome is unknown. */
export type WhisperOutcome = 'told' | 'not_open' | 'unanswered';

/** Puts words into a session's open call for the agent alone, whichever node holds the call; the session's pages do not see them. */
export interface Whispers {
  /** @returns the outcome, after two and a half seconds at most */
  send(sessionId: string, text: string): Promise<WhisperOutcome>;
}
