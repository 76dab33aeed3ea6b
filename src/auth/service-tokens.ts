import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * Finds which of SERVICE_TOKENS an Authorization header carries. Returns a name that distinguishes tokens without being one: `service:` and
 * the first six hex digits of its SHA-256. Its duration does not reveal how close a wrong token came.
 */
export function createServiceTokens(
  tokens: readonly string[],
): (authorization: string | undefined) => string | undefined {
  const known = tokens.map(digest);
  return (authorization) => {
    if (known.length === 0 || !isBearer(authorization)) return undefined;
    const given = digest(authorization.slice(7).trim());
    let found: Buffer | undefined;
    // Compares with all of them, so that the duration does not reveal which one matches.
    for (const token of known) if (timingSafeEqual(token, given)) found = token;
    return found === undefined ? undefined : `service:${found.toString('hex', 0, 3)}`;
  };
}

/** Whether an Authorization header may contain a token: a proxy that asks for a password causes other schemes. */
export function isBearer(authorization: string | undefined): authorization is string {
  return authorization !== undefined && /^bearer /i.test(authorization);
}

function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
