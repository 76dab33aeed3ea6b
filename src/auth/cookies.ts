import { createHmac, hkdfSync } from 'node:crypto';
import { randomId } from '../kernel/ids.ts';
import { DAY_MS } from '../kernel/time.ts';
import type { Subjects } from './subjects.ts';

const NAME = 'tenant_session';

/** The console token of a Cookie header; undefined when there is none. */
export function readSessionCookie(header: string | undefined): string | undefined {
  return readCookie(header, NAME);
}

/**
 * A cookie of a Cookie header; undefined when there is none. A name that occurs twice counts as missing: one of the two was planted (by a
 * neighbouring subdomain, say), and the header does not tell which.
 */
function readCookie(header: string | undefined, name: string): string | undefined {
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

interface WrittenCookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
  readonly maxAgeSec: number;
  readonly isSecure: boolean;
}

/** A Set-Cookie value for a cookie that no script can read and that foreign pages cannot send along, except by links to us. */
function writeCookie({ name, value, path, maxAgeSec, isSecure }: WrittenCookie): string {
  return `${name}=${value}; Path=${path}; Max-Age=${maxAgeSec}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
}

/** How long a browser that logged in is recognized. */
export const DEVICE_LIFE_MS = 180 * DAY_MS;

/** A device cookie that we issued and that is still valid. */
export interface Device {
  readonly id: string;
  /** When it expires. */
  readonly untilMs: number;
}

export type DeviceCookies = ReturnType<typeof createDeviceCookies>;

/**
 * Cookies that show that a browser has logged in with an address before (docs/contract.md, section 6.7). They are not stored: each is signed
 * for one address and has its own name, so that a browser may have several.
 * @param installationKey from which the signing key is derived
 * @param isSecure whether the public URL is https
 */
export function createDeviceCookies(
  installationKey: Buffer,
  subjects: Pick<Subjects, 'console' | 'equal'>,
  isSecure: () => boolean,
) {
  const key = Buffer.from(hkdfSync('sha256', installationKey, '', 'switchboard device cookie', 32));
  const cookieName = (email: string): string => `tenant_device_${subjects.console(email).slice(0, 16)}`;
  const sign = (email: string, id: string, until: string): string =>
    createHmac('sha256', key).update(`${id}.${until}.${email}`).digest('base64url');

  return {
    /** The device cookie for an address in a Cookie header; undefined where there is no valid one. */
    read(header: string | undefined, email: string, atMs: number): Device | undefined {
      const [id = '', until = '', signature = ''] = readCookie(header, cookieName(email))?.split('.') ?? [];
      const isOurs = subjects.equal(signature, sign(email, id, until));
      return isOurs && atMs < Number(until) ? { id, untilMs: Number(until) } : undefined;
    },

    /** The Set-Cookie value for a browser that has just logged in with an address. */
    issue(email: string, atMs: number): string {
      const [id, until] = [randomId(), String(atMs + DEVICE_LIFE_MS)];
      const value = `${id}.${until}.${sign(email, id, until)}`;
      return writeCookie({
        name: cookieName(email),
        value,
        path: '/api/auth/otp',
        maxAgeSec: DEVICE_LIFE_MS / 1000,
        isSecure: isSecure(),
      });
    },
  };
}
