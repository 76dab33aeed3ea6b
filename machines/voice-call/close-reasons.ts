interface CloseReasonRow {
  /** `request`: a CLOSE event may name the reason. `machine`: only the machine's own rules or the provider's reports lead to it. */
  readonly causedBy: 'machine' | 'request';
  /** What happens to the session: it goes on, ends at once, or ends unless another call follows within CALL_GRACE_SEC. */
  readonly session: 'goes on' | 'ends' | 'ends after grace';
}

/** Why a call closes: every reason there is, one row each. Rows are never renamed, because the history keeps their names. */
export const CLOSE_REASONS = {
  session_ended: { causedBy: 'request', session: 'goes on' },
  session_idle: { causedBy: 'request', session: 'goes on' },
  /** Another call of the session takes its place. */
  replaced: { causedBy: 'request', session: 'goes on' },
  /** The answer never reached the browser. */
  create_failed: { causedBy: 'request', session: 'goes on' },
  /** The page repeatedly changed what its key does not let it change. Only earlier versions use it; now it is `tampered`. */
  config_changed: { causedBy: 'request', session: 'ends' },
  /** The page repeatedly did what it may not and what costs money: too many or too long responses, or changes of its session. */
  tampered: { causedBy: 'request', session: 'ends' },
  /** The page repeatedly answered for tools that the server runs. */
  tool_forged: { causedBy: 'request', session: 'ends' },
  /** A tool of the server asked for the end, and the agent has said its last words. */
  tool_ended: { causedBy: 'request', session: 'ends' },
  /** Nobody could hear the call, or count what it used, for SIDEBAND_LOST_SEC. */
  unheard: { causedBy: 'request', session: 'ends' },
  /** The provider's own time limit was reached. */
  expired: { causedBy: 'machine', session: 'ends' },
  /** The provider ended it because of what was said. */
  content: { causedBy: 'machine', session: 'ends' },
  /** The browser left, or lost its network. */
  remote: { causedBy: 'machine', session: 'ends after grace' },
  /** The provider no longer knows the call. */
  lost: { causedBy: 'machine', session: 'ends after grace' },
} as const satisfies Record<string, CloseReasonRow>;

export type CloseReason = keyof typeof CLOSE_REASONS;

/** Reasons that come from outside the machine; the others are its own. */
export type CloseRequest = {
  [R in CloseReason]: (typeof CLOSE_REASONS)[R]['causedBy'] extends 'request' ? R : never;
}[CloseReason];
