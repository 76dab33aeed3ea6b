/** Names a widget key. */
export interface KeyName {
  readonly tenantId: string;
  readonly keyId: string;
}

/** How many sessions may be open: for the key, and for all keys of its tenant. */
export interface KeySlotLimits {
  readonly key?: number | undefined;
  readonly tenant?: number | undefined;
}

/**
 * The open sessions of a widget key over all its subjects, and of all widget keys of a tenant. Open sessions are read from the voice history, which
 * has a session before its create is answered, and the end of its slot before that is answered; only a session that is just being opened is noted
 * separately, by a lease. So nothing is counted that the history does not know, nothing is lost with the live registry, and nothing need be renewed
 * or freed.
 * All methods: @throws Unavailable when the database is away.
 */
export interface KeySlots {
  /**
   * In one step over all nodes: counts the engaged sessions and those being opened, and notes this one if they are fewer than each limit.
   * @returns whose limit is reached; undefined if the session was noted
   */
  take(
    key: KeyName,
    sessionId: string,
    limits: KeySlotLimits,
    leaseUntilMs: number,
    atMs: number,
  ): Promise<keyof KeySlotLimits | undefined>;
  /** To be called once the session is in the history: deletes the note. False: its lease had lapsed, so others may have been admitted meanwhile. */
  confirm(key: KeyName, sessionId: string, limits: KeySlotLimits): Promise<boolean>;
  /** Deletes the note of a session that was not opened. */
  free(sessionId: string): Promise<void>;
}
