const NAME = 'tenant_session';

/**
 * The console token of a Cookie header; undefined when there is none. A name that comes twice counts as none: one of the two was
 * planted (by a neighbouring subdomain, say), and nothing in the header tells which.
 */
export function readSessionCookie(header: string | undefined): string | undefined {
  if (header === undefined || !header.includes(NAME)) return undefined;
  let found: string | undefined;
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=');
    if (equals < 0 || pair.slice(0, equals).trim() !== NAME) continue;
    if (found !== undefined) return undefined;
    found = pair.slice(equals + 1).trim();
  }
  return found === '' ? undefined : found;
}

export interface SessionCookie {
  readonly token: string;
  readonly expiresAtMs: number;
  /** When it is set; Max-Age is what is left from here, in whole seconds. */
  readonly atMs: number;
  /** True when the public URL is https. */
  readonly isSecure: boolean;
}

/** The Set-Cookie value with exactly the attributes of the specification's section 5.2. */
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
