import { createHash, timingSafeEqual } from 'node:crypto';

/** Tells whether an Authorization header carries one of SERVICE_TOKENS, in a time that does not tell how close it came. */
export function createServiceTokens(tokens: readonly string[]): (authorization: string | undefined) => boolean {
  const known = tokens.map(digest);
  return (authorization) => {
    if (known.length === 0 || authorization === undefined || !/^bearer /i.test(authorization)) return false;
    const given = digest(authorization.slice(7).trim());
    return known.filter((token) => timingSafeEqual(token, given)).length > 0;
  };
}

function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
