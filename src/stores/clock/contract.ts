/** How far the time that nodes agree on is ahead of each store's own clock, in milliseconds. */
export interface ClockLeads {
  /** Lead over the live stores' clock; it shrinks from `sinceMs` on (see `leadAt`). */
  readonly registryMs: number;
  /** When `registryMs` was noted, in the time that nodes agree on. */
  readonly sinceMs: number;
  /** Lead over the database's clock, as last measured. */
  readonly databaseMs: number;
}

export interface ClockAgreement {
  /** Undefined until the first node has noted leads. */
  readonly leads: ClockLeads | undefined;
  /** Grows with each change of the leads. */
  readonly version: number;
  /** Grows each time a node confirms the leads. */
  readonly vouched: number;
  /** How long ago a node last confirmed them, by the database's own clock. */
  readonly vouchedAgoMs: number;
  /** The database's own time, in milliseconds since the Unix epoch. */
  readonly databaseMs: number;
}

/** What nodes agree on about the time. All methods: @throws Unavailable when the database is away. */
export interface ClockAgreements {
  read(): Promise<ClockAgreement>;
  /** Confirms that this node finds the leads right. */
  vouch(): Promise<void>;
  /** Notes new leads unless another node did since `version` was read; @returns whether they were noted */
  note(leads: ClockLeads, version: number): Promise<boolean>;
}
