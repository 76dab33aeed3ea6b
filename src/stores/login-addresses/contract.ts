/** What is known of an address that may log in. */
export interface LoginAddress {
  /** Whether anybody has ever logged in by it. */
  readonly isKnown: boolean;
  /** When an operator last lifted what holds for it. */
  readonly liftedAtMs: number | null;
}

/** Addresses that logged in or were lifted, by their subjects (docs/contract.md, section 6.2). @throws Unavailable when the database is away. */
export interface LoginAddresses {
  /** @param email whose logins are looked at as well: they may be older than this store */
  find(subject: string, email: string): Promise<LoginAddress>;
  loggedIn(subject: string, atMs: number): Promise<void>;
  lift(subject: string, atMs: number): Promise<void>;
}
