interface CloseReasonRow {
  /** `request`: a CLOSE event may name the reason. `machine`: only its own rules or what the provider says. */
  readonly causedBy: 'machine' | 'request';
  /** What becomes of the session: nothing, an end at once, or an end unless another call follows within CALL_GRACE_SEC. */
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
  /** The page changed, again and again, what its key does not let it change. Only earlier versions said so; now it is `tampered`. */
  config_changed: { causedBy: 'request', session: 'ends' },
  /** The page did, again and again, what it may not and what costs: responses too many or too long, or changes of its session. */
  tampered: { causedBy: 'request', session: 'ends' },
  /** The page answered, again and again, tools that the server runs. */
  tool_forged: { causedBy: 'request', session: 'ends' },
  /** A tool of the server asked for the end, and the agent has said its last words. */
  tool_ended: { causedBy: 'request', session: 'ends' },
  /** Nobody could hear the call, or count what it used, for SIDEBAND_LOST_SEC. */
  unheard: { causedBy: 'request', session: 'ends' },
  /** The provider's own longest time was over. */
  expired: { causedBy: 'machine', session: 'ends' },
  /** The provider ended it for what was said. */
  content: { causedBy: 'machine', session: 'ends' },
  /** The browser left, or its network did. */
  remote: { causedBy: 'machine', session: 'ends after grace' },
  /** The provider knows it no more. */
  lost: { causedBy: 'machine', session: 'ends after grace' },
} as const satisfies Record<string, CloseReasonRow>;

export type CloseReason = keyof typeof CLOSE_REASONS;

/** Reasons that come from outside the machine; the others are its own. */
export type CloseRequest = {
  [R in CloseReason]: (typeof CLOSE_REASONS)[R]['causedBy'] extends 'request' ? R : never;
}[CloseReason];
