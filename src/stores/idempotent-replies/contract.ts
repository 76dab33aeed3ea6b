import { MINUTE_MS } from '../../kernel/time.ts';

/** How long after its create a reply is kept for repeats (docs/contract.md, section 5.2). */
export const KEEP_REPLY_MS = 10 * MINUTE_MS;

export type Claim =
  /** The caller does the work and then calls `keep` or `release` with this token. */
  | { readonly kind: 'claimed'; readonly token: string }
  /** Another request is doing the work: ask again in a moment. */
  | { readonly kind: 'pending' }
  /** The kept reply; sealed, see `keep`. */
  | { readonly kind: 'kept'; readonly sealed: Buffer }
  /** The key was used with another body, so its reply is not given: the caller is refused with IDEMPOTENCY_MISMATCH. */
  | { readonly kind: 'mismatch' };

/** What is stored under a key; `free` means nothing, or something that has expired. */
export type ReplyState = Exclude<Claim, { readonly kind: 'claimed' }> | { readonly kind: 'free' };

/**
 * Replies kept under an idempotency key, so that a repeated create gets the same answer (src/sessions/create/idempotency-key.ts).
 * @throws Unavailable when the database is away
 */
export interface IdempotentReplies {
  /** Claims a key hash for the work, for at most `claimMs`; the claim of a node that died lapses. `bodyHash` tells another body apart. */
  claim(keyHash: string, bodyHash: string, claimMs: number, atMs: number): Promise<Claim>;
  /** Only reads, for those who wait for the work of another request. */
  look(keyHash: string, bodyHash: string, atMs: number): Promise<ReplyState>;
  /** Keeps a sealed reply until `untilMs`. */
  keep(keyHash: string, token: string, sealed: Buffer, untilMs: number): Promise<void>;
  /** Gives up the claim: the work failed and may be tried again. */
  release(keyHash: string, token: string): Promise<void>;
}
