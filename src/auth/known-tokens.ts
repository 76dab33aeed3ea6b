import { Lru } from '../kernel/lru.ts';
import type { TokenClaims } from './tokens.ts';

interface KnownToken {
  readonly token: string;
  readonly claims: TokenClaims;
}

const CAPACITY = 10_000;
/** HMAC SHA-256 in base64url. */
const SIGNATURE_LENGTH = 43;

/**
 * Tokens whose signature was checked, with what they say. They are looked up by their signature, as hashing all of a token for a
 * look-up takes longer than the rest of a request's check, and then compared as a whole.
 */
export class KnownTokens {
  readonly #known = new Lru<KnownToken>(CAPACITY);

  get(token: string): TokenClaims | undefined {
    const known = this.#known.get(token.slice(-SIGNATURE_LENGTH));
    return known?.token === token ? known.claims : undefined;
  }

  set(token: string, claims: TokenClaims): void {
    this.#known.set(token.slice(-SIGNATURE_LENGTH), { token, claims });
  }
}
