interface EndReasonRow {
  /** `machine`: its own rules, at a deadline or at a heartbeat that comes too late. `request`: an END event that names the reason. */
  readonly causedBy: 'machine' | 'request';
  /** Whether a limit was violated: a console caller's login is destroyed then (docs/contract.md, section 5.9). */
  readonly isViolation: boolean;
  /** What an end user reads of it. */
  readonly userMessage: string;
}

/**
 * Why a voice session ends: every reason there is, one row each. It is the only list: types and replies derive from it.
 * Rows are never renamed, because the history keeps their names.
 */
export const END_REASONS = {
  duration_exceeded: {
    causedBy: 'machine',
    isViolation: true,
    userMessage: 'This conversation has reached its maximum length. Please start a new one.',
  },
  idle_exceeded: {
    causedBy: 'machine',
    isViolation: true,
    userMessage: 'This conversation was quiet for too long and has ended. Please start a new one.',
  },
  quota_exceeded: {
    causedBy: 'request',
    isViolation: true,
    userMessage: "Today's limit is reached, so this conversation has ended. Please come back tomorrow.",
  },
  closed_by_client: {
    causedBy: 'request',
    isViolation: false,
    userMessage: 'This conversation was closed. Please start a new one.',
  },
  closed_by_operator: {
    causedBy: 'request',
    isViolation: false,
    userMessage: 'This conversation was closed by an operator. Please start a new one.',
  },
  key_revoked: {
    causedBy: 'request',
    isViolation: false,
    userMessage: 'This assistant is no longer available on this website.',
  },
  upstream_ended: {
    causedBy: 'request',
    isViolation: false,
    userMessage: 'The voice service ended this conversation. Please start a new one.',
  },
  /** Its create was rolled back: nobody was given its secret. */
  create_failed: {
    causedBy: 'request',
    isViolation: false,
    userMessage: 'This conversation could not be opened. Please start a new one.',
  },
  abandoned: {
    causedBy: 'machine',
    isViolation: false,
    userMessage: 'This conversation was quiet for too long and has ended. Please start a new one.',
  },
} as const satisfies Record<string, EndReasonRow>;

export type EndReason = keyof typeof END_REASONS;

/** Reasons that come from outside the machine; the others are its own. */
export type RequestedEnd = {
  [R in EndReason]: (typeof END_REASONS)[R]['causedBy'] extends 'request' ? R : never;
}[EndReason];
