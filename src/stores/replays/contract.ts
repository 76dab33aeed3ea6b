export type Claim =
  /** The caller does the work and then calls `keep` or `release` with this token. */
  | { readonly kind: 'claimed'; readonly token: string }
  /** Somebody else is at it: ask again in a moment. */
  | { readonly kind: 'pending' }
  /** The kept reply; sealed, see `keep`. */
  | { readonly kind: 'kept'; readonly sealed: Buffer }
  | { readonly kind: 'mismatch' };

/** What is under a key: `free` is nothing, or what has lapsed. */
export type Found = Exclude<Claim, { readonly kind: 'claimed' }> | { readonly kind: 'free' };

/** Replies kept under an idempotency key, so that a repeated create answers the same. @throws Unavailable when the database is away. */
export interface Replays {
  /** Claims a key hash for the work, for at most `claimMs`; a claim whose node died lapses. `bodyHash` tells another body apart. */
  claim(keyHash: string, bodyHash: string, claimMs: number, atMs: number): Promise<Claim>;
  /** Reads only: for those who wait for the work of another. */
  look(keyHash: string, bodyHash: string, atMs: number): Promise<Found>;
  /** Keeps a sealed reply until `untilMs`. */
  keep(keyHash: string, token: string, sealed: Buffer, untilMs: number): Promise<void>;
  /** Gives the claim up: the work failed and may be tried again. */
  release(keyHash: string, token: string): Promise<void>;
}
