/** One version of a secret, as it is told of: without what it is. */
export interface TenantSecret {
  readonly tenantId: string;
  readonly name: string;
  /** From 1, and one more each time that it is set. */
  readonly version: number;
  readonly createdAtMs: number;
  /** Who set it, as the journal names who acts. */
  readonly createdBy: string;
}

export interface SealedSecret extends TenantSecret {
  readonly sealed: Buffer;
}

/** The secrets of tenants, sealed by whoever inserts them. @throws Unavailable when the database is away */
export interface TenantSecrets {
  /**
   * Keeps the next version, and of the former ones only the last.
   * @returns false, and changes nothing, where that version is there, or the one before it is not the newest
   */
  insert(secret: SealedSecret): Promise<boolean>;
  /** The versions that are kept, the newest first. */
  find(tenantId: string, name: string): Promise<readonly SealedSecret[]>;
  /** The newest version of each, by tenant and name. @param tenants whose; all where none are named */
  list(tenants?: readonly string[]): Promise<readonly TenantSecret[]>;
  /** One of them, whichever; undefined where there is none. */
  any(): Promise<Pick<TenantSecret, 'tenantId' | 'name'> | undefined>;
  /** Deletes all versions. @returns whether there was any */
  delete(tenantId: string, name: string): Promise<boolean>;
}
