/** What is known about an address that may log in. */
export interface LoginAddress {
  /** Whether anybody ever logged in with it. */
  readonly isKnown: boolean;
  /** When an operator last lifted its restrictions. */
  readonly liftedAtMs: number | null;
}

/** Addresses that logged in or were lifted, by subject (docs/contract.md, section 6.2). @throws Unavailable when the database is away. */
export interface LoginAddresses {
  /** @param email its logins are considered too: they may be older than this store */
  find(subject: string, email: string): Promise<LoginAddress>;
  loggedIn(subject: string, atMs: number): Promise<void>;
  lift(subject: string, atMs: number): Promise<void>;
}
