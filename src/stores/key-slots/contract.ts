/** A widget key by its names. */
export interface KeyName {
  readonly tenantId: string;
  readonly keyId: string;
}

/** How many sessions may be open: of the key, and of all keys of its tenant. */
export interface KeySlotLimits {
  readonly key?: number | undefined;
  readonly tenant?: number | undefined;
}

/**
 * The open sessions of a widget key over all its subjects, and of all widget keys of a tenant. What is open is read from the voice history, which has a session before its
 * create is answered, and the end of its slot before that is answered; only a session that is just being opened is noted beside it, by a
 * lease. So nothing is counted that the history does not know, nothing is lost with the live registry, and nothing need be renewed or freed.
 * Every method is @throws Unavailable when the database is away.
 */
export interface KeySlots {
  /**
   * In one step over all nodes: counts the engaged sessions and those being opened, and notes this one when they are fewer than each limit.
   * @returns whose limit is reached, and undefined when the session is noted
   */
  take(
    key: KeyName,
    sessionId: string,
    limits: KeySlotLimits,
    leaseUntilMs: number,
    atMs: number,
  ): Promise<keyof KeySlotLimits | undefined>;
  /** When the session is in the history: forgets the note. False says that its lease had lapsed: others may have been admitted meanwhile. */
  confirm(key: KeyName, sessionId: string, limits: KeySlotLimits): Promise<boolean>;
  /** The session was not opened. */
  free(sessionId: string): Promise<void>;
}
