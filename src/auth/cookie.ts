const NAME = 'tenant_session';
const PREFIX = `${NAME}=`;

/**
 * The console token of a Cookie header; undefined when there is none. A name that comes twice counts as none: one of the two was
 * planted (by a neighbouring subdomain, say), and nothing in the header tells which.
 */
export function readSessionCookie(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  const start = nextValue(header, 0);
  if (start < 0 || nextValue(header, start) >= 0) return undefined;
  const end = header.indexOf(';', start);
  const token = header.slice(start, end < 0 ? header.length : end).trim();
  return token === '' ? undefined : token;
}

/** Where our cookie's next value begins, or -1. It searches rather than splits: this is done for every request with a cookie. */
function nextValue(header: string, from: number): number {
  for (let at = header.indexOf(PREFIX, from); at >= 0; at = header.indexOf(PREFIX, at + 1)) {
    let before = at - 1;
    while (header[before] === ' ') before -= 1;
    // Anything else is the end of a longer name, or part of another cookie's value.
    if (before < 0 || header[before] === ';') return at + PREFIX.length;
  }
  return -1;
}

export interface SessionCookie {
  readonly token: string;
  readonly expiresAtMs: number;
  /** When it is set; Max-Age is what is left from here, in whole seconds. */
  readonly atMs: number;
  /** True when the public URL is https. */
  readonly isSecure: boolean;
}

/** The Set-Cookie value with exactly the attributes of docs/contract.md, section 6.4. */
export function sessionCookie({ token, expiresAtMs, atMs, isSecure }: SessionCookie): string {
  return serialize(token, Math.max(0, Math.round((expiresAtMs - atMs) / 1000)), isSecure);
}

/** The Set-Cookie value that makes the browser forget the cookie: the attributes must be those it was set with. */
export function clearedSessionCookie(isSecure: boolean): string {
  return serialize('', 0, isSecure);
}

function serialize(value: string, maxAgeSec: number, isSecure: boolean): string {
  return `${NAME}=${value}; Path=/; Max-Age=${maxAgeSec}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
}
