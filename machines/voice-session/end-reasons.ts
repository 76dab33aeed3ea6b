interface EndReasonRow {
  /** `machine`: the machine's own rules, at a deadline or at a heartbeat that comes too late. `request`: an END event that names the reason. */
  readonly causedBy: 'machine' | 'request';
  /** Whether a limit was violated: then a console caller's login is destroyed (docs/contract.md, section 5.9). */
  readonly isViolation: boolean;
}

/**
 * Why a voice session ends: every reason there is, one row each. It is the only list: types and replies derive from it.
 * Rows are never renamed, because the history keeps their names.
 */
export const END_REASONS = {
  duration_exceeded: {
    causedBy: 'machine',
    isViolation: true,
  },
  idle_exceeded: {
    causedBy: 'machine',
    isViolation: true,
  },
  quota_exceeded: {
    causedBy: 'request',
    isViolation: true,
  },
  closed_by_client: {
    causedBy: 'request',
    isViolation: false,
  },
  closed_by_operator: {
    causedBy: 'request',
    isViolation: false,
  },
  key_revoked: {
    causedBy: 'request',
    isViolation: false,
  },
  upstream_ended: {
    causedBy: 'request',
    isViolation: false,
  },
  /** A tool of the server asked for it. */
  closed_by_tool: {
    causedBy: 'request',
    isViolation: false,
  },
  /** Its create was rolled back: nobody was given its secret. */
  create_failed: {
    causedBy: 'request',
    isViolation: false,
  },
  abandoned: {
    causedBy: 'machine',
    isViolation: false,
  },
} as const satisfies Record<string, EndReasonRow>;

export type EndReason = keyof typeof END_REASONS;

/** A record may name a reason that only a later version knows: during an update, or after one was rolled back. */
const rows: Readonly<Record<string, EndReasonRow | undefined>> = END_REASONS;

/** Reasons after which a console caller's login is destroyed (docs/contract.md, section 5.9). An unknown reason destroys none. */
export function isViolation(reason: EndReason | null): boolean {
  return reason !== null && rows[reason]?.isViolation === true;
}

/** Reasons that come from outside the machine; the others are its own. */
export type RequestedEnd = {
  [R in EndReason]: (typeof END_REASONS)[R]['causedBy'] extends 'request' ? R : never;
}[EndReason];
