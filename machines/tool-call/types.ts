export type ToolCallState = 'asked' | 'running' | 'answered' | 'failed' | 'timed_out' | 'dropped';

/** Why a model gets no answer: short words of ours, never a server's. */
export type ToolFailure =
  | 'failed'
  | 'timed_out'
  | 'too_large'
  | 'unreachable'
  | 'interrupted'
  | 'too_many'
  | 'bad_arguments';

/** What a tool call is asked with; it never changes. */
export interface ToolCallTerms {
  readonly id: string;
  /** The voice call in which it was asked. */
  readonly callId: string;
  /** The provider's own id of it, unique in its voice call. */
  readonly toolCallId: string;
  readonly sessionId: string;
  readonly name: string;
}

/** One tool call for a tool of the server. Times are milliseconds since the Unix epoch; arguments and answers are not part of it. */
export interface ToolCallRecord extends ToolCallTerms {
  readonly state: ToolCallState;
  readonly askedAtMs: number;
  /** From then on it is too late for an answer. */
  readonly untilMs: number;
  /** Requests that were sent or started: none or one. Nobody sends a second one, because its arguments are not kept. */
  readonly tries: number;
  /** Null until it is over, and if it was answered or dropped. */
  readonly code: ToolFailure | null;
  /** What went wrong, for operators: a status, a content type, a system error code; null where the code says it all. */
  readonly detail: string | null;
  /** From the time it was asked to its end. */
  readonly ms: number | null;
  /** The server's identifier for why it wants the session to end; null if it does not want that. */
  readonly endReason: string | null;
  /** The answer's size; null if there was none. */
  readonly bytes: number | null;
  /** The fence of the voice call's owner, which alone may save it. */
  readonly fence: number;
  readonly version: number;
}

/** Every event carries its time: machines have no clock of their own. */
export type ToolCallEvent =
  | {
      readonly type: 'ASK';
      readonly at: number;
      readonly terms: ToolCallTerms;
      readonly untilMs: number;
      readonly fence: number;
    }
  /** Its arguments are valid: the request may be sent. */
  | { readonly type: 'STARTED'; readonly at: number }
  | {
      readonly type: 'ANSWERED';
      readonly at: number;
      readonly bytes: number;
      readonly endReason: string | null;
    }
  | { readonly type: 'FAILED'; readonly at: number; readonly code: ToolFailure; readonly detail?: string | undefined }
  /** No request was sent, and none will be. */
  | { readonly type: 'REFUSED'; readonly at: number; readonly code: ToolFailure }
  /** Another node owns the voice call now; it cannot hear the answer, and does not know the arguments. */
  | { readonly type: 'TAKEN'; readonly at: number; readonly fence: number }
  /** The voice call is over: nobody waits for the answer. */
  | { readonly type: 'CALL_CLOSED'; readonly at: number }
  | { readonly type: 'CLOCK'; readonly at: number };
