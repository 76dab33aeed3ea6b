import type jsonwebtokenModule from 'jsonwebtoken';
import { createSecretKey } from 'node:crypto';
import { andThen, type Eventually } from '../kernel/async.ts';
import { Lru } from '../kernel/collections.ts';

const AUDIENCE = 'switchboard-console';
const TYPE = 'console';
/** Ours have about 350 characters; nothing longer is worth checking. */
const MAX_LENGTH = 2048;

/** The content of a console cookie (docs/contract.md, section 6.4). */
export interface TokenClaims {
  readonly email: string;
  /** The login's id, prefix auth_. */
  readonly loginId: string;
  /** Milliseconds since the Unix epoch; the token itself has whole seconds. */
  readonly expiresAtMs: number;
}

export type Tokens = ReturnType<typeof createTokens>;

type Library = typeof jsonwebtokenModule;
let library: Library | undefined;

/** Imported with the first login or cookie, so that starting does not wait for it. */
function jsonwebtoken(): Eventually<Library> {
  return library ?? import('jsonwebtoken').then((module) => (library = module.default));
}

/**
 * JSON Web Tokens for console cookies: HMAC SHA-256 and nothing else.
 * @param secrets JWT_SECRET: the first signs, all verify, so that a secret can be replaced without ending logins
 */
export function createTokens(secrets: readonly string[]) {
  // Created once: given a string, the library makes a key for every call, at 25 times the cost of the check itself.
  const keys = secrets.map((secret) => createSecretKey(Buffer.from(secret, 'utf8')));
  const [signingKey] = keys;
  if (signingKey === undefined) throw new TypeError('tokens need at least one secret');

  function verifyWith({ verify }: Library, token: string, atMs: number): TokenClaims | undefined {
    const clockTimestamp = Math.floor(atMs / 1000);
    for (const key of keys) {
      try {
        return toClaims(verify(token, key, { algorithms: ['HS256'], audience: AUDIENCE, clockTimestamp }));
      } catch {
        // Another secret may match; what is wrong with a token is not reported.
      }
    }
    return undefined;
  }

  return {
    /** Signs with the first secret. The token expires at the end of the second that contains `expiresAtMs`; the login's row is exact. */
    async sign({ email, loginId, expiresAtMs }: TokenClaims, atMs: number): Promise<string> {
      const { sign } = await jsonwebtoken();
      const times = { iat: Math.floor(atMs / 1000), exp: Math.ceil(expiresAtMs / 1000) };
      return sign({ email, sid: loginId, ...times, aud: AUDIENCE, typ: TYPE }, signingKey, { algorithm: 'HS256' });
    },

    /** The token's claims, if one of the secrets signed it and it has not expired; otherwise undefined. Never throws. */
    verify(token: string, atMs: number): Eventually<TokenClaims | undefined> {
      if (token.length > MAX_LENGTH) return undefined;
      return andThen(jsonwebtoken(), (loaded) => verifyWith(loaded, token, atMs));
    },
  };
}

/** The library accepts tokens that lack a claim; ours have all of them. */
function toClaims(payload: unknown): TokenClaims | undefined {
  if (typeof payload !== 'object' || payload === null) return undefined;
  const { email, sid, iat, exp, aud, typ } = payload as Readonly<Record<string, unknown>>;
  if (typeof email !== 'string' || typeof sid !== 'string' || typeof iat !== 'number' || typeof exp !== 'number')
    return undefined;
  if (aud !== AUDIENCE || typ !== TYPE) return undefined;
  return { email, loginId: sid, expiresAtMs: exp * 1000 };
}

interface KnownToken {
  readonly token: string;
  readonly claims: TokenClaims;
}

const CAPACITY = 10_000;
/** Length of the signature at the end of a token: HMAC SHA-256 in base64url. */
const SIGNATURE_LENGTH = 43;

/**
 * Tokens whose signature was checked, with their claims. They are looked up by their signature, because hashing a whole token for a
 * look-up takes longer than the rest of a request's check, and are then compared as a whole.
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
