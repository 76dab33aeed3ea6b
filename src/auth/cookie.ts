const NAME = 'tenant_session';

/** The console token of a Cookie header; undefined when there is none. */
export function readSessionCookie(header: string | undefined): string | undefined {
  return readCookie(header, NAME);
}

/**
 * A cookie of a Cookie header; undefined when there is none. A name that occurs twice counts as missing: one of the two was planted (by a
 * neighbouring subdomain, say), and the header does not tell which.
 */
export function readCookie(header: string | undefined, name: string): string | undefined {
  if (header === undefined) return undefined;
  const start = nextValue(header, name, 0);
  if (start < 0 || nextValue(header, name, start) >= 0) return undefined;
  const end = header.indexOf(';', start);
  const token = header.slice(start, end < 0 ? header.length : end).trim();
  return token === '' ? undefined : token;
}

/** Where a cookie's next value begins, or -1. It searches instead of splitting, because it runs for every request with a cookie. */
function nextValue(header: string, name: string, from: number): number {
  for (let at = header.indexOf(name, from); at >= 0; at = header.indexOf(name, at + 1)) {
    if (header[at + name.length] !== '=') continue;
    let before = at - 1;
    while (header[before] === ' ') before -= 1;
    // Otherwise it is the end of a longer name, or part of another cookie's value.
    if (before < 0 || header[before] === ';') return at + name.length + 1;
  }
  return -1;
}

export interface SessionCookie {
  readonly token: string;
  readonly expiresAtMs: number;
  /** The present time; Max-Age is the time left from then on, in whole seconds. */
  readonly atMs: number;
  /** True when the public URL is https. */
  readonly isSecure: boolean;
}

/** The Set-Cookie value with exactly the attributes of docs/contract.md, section 6.4. */
export function sessionCookie({ token, expiresAtMs, atMs, isSecure }: SessionCookie): string {
  const maxAgeSec = Math.max(0, Math.round((expiresAtMs - atMs) / 1000));
  return writeCookie({ name: NAME, value: token, path: '/', maxAgeSec, isSecure });
}

/** The Set-Cookie value that deletes the cookie: its attributes must be those that the cookie was set with. */
export function clearedSessionCookie(isSecure: boolean): string {
  return sessionCookie({ token: '', expiresAtMs: 0, atMs: 0, isSecure });
}

export interface WrittenCookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
  readonly maxAgeSec: number;
  readonly isSecure: boolean;
}

/** A Set-Cookie value for a cookie that no script can read and that foreign pages cannot send along, except by links to us. */
export function writeCookie({ name, value, path, maxAgeSec, isSecure }: WrittenCookie): string {
  return `${name}=${value}; Path=${path}; Max-Age=${maxAgeSec}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
}
