/** A change that an operator made: who, when, what, why. */
export interface AuditEntry {
  readonly atMs: number;
  /** An operator's e-mail address, `service` for a service token, or `cli`. */
  readonly actor: string;
  readonly action: string;
  /** What was changed: `<tenant>/<id>` of a key, the ref of a voice session, never its whole id. */
  readonly target: string;
  readonly reason: string | null;
  readonly requestId: string | null;
}

/** @throws Unavailable when the database is away. */
export interface Audit {
  append(entry: AuditEntry): Promise<void>;
  /** The last entry of an action on a target up to a time, the first of several at one instant; undefined when there is none. */
  latest(action: string, target: string, untilMs: number): Promise<AuditEntry | undefined>;
  /** Those of the newest 10,000 entries that are within a span, the newest first; at most `limit`. */
  within(fromMs: number, toMs: number, limit: number): Promise<AuditEntry[]>;
}
