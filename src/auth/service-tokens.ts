import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * Tells which of SERVICE_TOKENS an Authorization header carries, by a name that tells one token from another and is none: `service:` and
 * the first six hex digits of its SHA-256. It takes a time that does not tell how close a wrong one came.
 */
export function createServiceTokens(
  tokens: readonly string[],
): (authorization: string | undefined) => string | undefined {
  const known = tokens.map(digest);
  return (authorization) => {
    if (known.length === 0 || !isBearer(authorization)) return undefined;
    const given = digest(authorization.slice(7).trim());
    let found: Buffer | undefined;
    // All of them, so that the time does not tell which.
    for (const token of known) if (timingSafeEqual(token, given)) found = token;
    return found === undefined ? undefined : `service:${found.toString('hex', 0, 3)}`;
  };
}

/** Whether an Authorization header brings what may be a token: a proxy that asks for a password brings something else. */
export function isBearer(authorization: string | undefined): authorization is string {
  return authorization !== undefined && /^bearer /i.test(authorization);
}

function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
