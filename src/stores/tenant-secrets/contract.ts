/** One version of a secret, without its value. */
export interface TenantSecret {
  readonly tenantId: string;
  readonly name: string;
  /** From 1; one more each time that the secret is set. */
  readonly version: number;
  readonly createdAtMs: number;
  /** Who set it, named as in the journal. */
  readonly createdBy: string;
}

export interface SealedSecret extends TenantSecret {
  readonly sealed: Buffer;
}

/** The secrets of tenants, sealed by the code that inserts them. @throws Unavailable when the database is away */
export interface TenantSecrets {
  /**
   * Stores the next version, and keeps only the last of the former ones.
   * @returns false, with nothing changed, if that version exists or the one before it is not the newest
   */
  insert(secret: SealedSecret): Promise<boolean>;
  /** The stored versions, newest first. */
  find(tenantId: string, name: string): Promise<readonly SealedSecret[]>;
  /** The newest version of each secret, by tenant and name. @param tenants whose secrets; all if not given */
  list(tenants?: readonly string[]): Promise<readonly TenantSecret[]>;
  /** Any one secret; undefined if there is none. */
  any(): Promise<Pick<TenantSecret, 'tenantId' | 'name'> | undefined>;
  /** Deletes all versions. @returns whether there was any */
  delete(tenantId: string, name: string): Promise<boolean>;
}
