/** What operators change. Names are never changed, because the audit keeps them. */
export type AuditAction = 'session.end' | 'key.issue' | 'key.revoke';

/** A change that an operator made: who, when, what, why. */
export interface AuditEntry {
  readonly atMs: number;
  /** An operator's e-mail address, `service` for a service token, or `cli`. */
  readonly actor: string;
  readonly action: AuditAction;
  /** What was changed: `<tenant>/<id>` of a key, the ref of a voice session, never its whole id. */
  readonly target: string;
  readonly reason: string | null;
  readonly requestId: string | null;
}

/** @throws Unavailable when the database is away. */
export interface Audit {
  append(entry: AuditEntry): Promise<void>;
  /** The last entry of an action on a target up to a time, the first of several at one instant; undefined when there is none. */
  latest(action: AuditAction, target: string, untilMs: number): Promise<AuditEntry | undefined>;
}
