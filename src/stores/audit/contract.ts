/** A change that an operator made: who, when, what, why. */
export interface AuditEntry {
  readonly atMs: number;
  /** An operator's e-mail address, `service` for a service token, or `cli`. */
  readonly actor: string;
  readonly action: string;
  readonly target: string;
  readonly reason: string | null;
  readonly requestId: string | null;
}

/** @throws Unavailable when the database is away. */
export interface Audit {
  append(entry: AuditEntry): Promise<void>;
}
