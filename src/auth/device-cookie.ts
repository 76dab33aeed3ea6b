import { createHmac, hkdfSync } from 'node:crypto';
import { randomId } from '../kernel/ids.ts';
import { DAY_MS } from '../kernel/time.ts';
import { readCookie, writeCookie } from './cookie.ts';
import type { Subjects } from './subjects.ts';

/** How long a browser that logged in is known by that. */
export const DEVICE_LIFE_MS = 180 * DAY_MS;

/** A device cookie that is ours and still good. */
export interface Device {
  readonly id: string;
  /** When it ends. */
  readonly untilMs: number;
}

/** What tells that a browser has logged in by an address before (docs/contract.md, section 6.7). */
export interface DeviceCookies {
  /** The cookie that a Cookie header has for an address; undefined where it has none that is ours and still good. */
  read(header: string | undefined, email: string, atMs: number): Device | undefined;
  /** The Set-Cookie value for a browser that has just logged in by an address. */
  issue(email: string, atMs: number): string;
}

/**
 * Device cookies, of which nothing is stored: each is signed for one address, under a name of its own, so that a browser may have several.
 * @param installationKey they are signed with a key that is derived from it
 * @param isSecure whether the public URL is https
 */
export function createDeviceCookies(
  installationKey: Buffer,
  subjects: Pick<Subjects, 'console' | 'equal'>,
  isSecure: () => boolean,
): DeviceCookies {
  const key = Buffer.from(hkdfSync('sha256', installationKey, '', 'switchboard device cookie', 32));
  const nameOf = (email: string): string => `tenant_device_${subjects.console(email).slice(0, 16)}`;
  const sign = (email: string, id: string, until: string): string =>
    createHmac('sha256', key).update(`${id}.${until}.${email}`).digest('base64url');

  return {
    read(header, email, atMs) {
      const [id = '', until = '', signature = ''] = readCookie(header, nameOf(email))?.split('.') ?? [];
      const isOurs = subjects.equal(signature, sign(email, id, until));
      return isOurs && atMs < Number(until) ? { id, untilMs: Number(until) } : undefined;
    },

    issue(email, atMs) {
      const [id, until] = [randomId(), String(atMs + DEVICE_LIFE_MS)];
      const value = `${id}.${until}.${sign(email, id, until)}`;
      return writeCookie({
        name: nameOf(email),
        value,
        path: '/api/auth/otp',
        maxAgeSec: DEVICE_LIFE_MS / 1000,
        isSecure: isSecure(),
      });
    },
  };
}
