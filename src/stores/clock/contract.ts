/** By how much the time that nodes agree on is ahead of each store's own clock, in milliseconds. */
export interface ClockLeads {
  /** Of the live stores; it shrinks from `sinceMs` on (see `leadAt`). */
  readonly registryMs: number;
  /** When that was noted, by the time that nodes agree on. */
  readonly sinceMs: number;
  /** Of the database, as it was found last. */
  readonly databaseMs: number;
}

export interface ClockAgreement {
  /** Undefined before the first node noted any. */
  readonly leads: ClockLeads | undefined;
  /** Grows with each change of the leads. */
  readonly version: number;
  /** Grows each time that a node says the leads hold. */
  readonly vouched: number;
  /** How long ago that was, by the database's own clock. */
  readonly vouchedAgoMs: number;
  /** The database's own time, in milliseconds since the Unix epoch. */
  readonly databaseMs: number;
}

/** What nodes agree on about the time. Every method is @throws Unavailable when the database is away. */
export interface ClockAgreements {
  read(): Promise<ClockAgreement>;
  /** This node finds that the leads hold. */
  vouch(): Promise<void>;
  /** Notes other leads, unless somebody else did since `version` was read; @returns whether it did */
  note(leads: ClockLeads, version: number): Promise<boolean>;
}
