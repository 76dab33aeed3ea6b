import { createHmac, hkdfSync } from 'node:crypto';
import { randomId } from '../kernel/ids.ts';
import { DAY_MS } from '../kernel/time.ts';
import { readCookie, writeCookie } from './cookie.ts';
import type { Subjects } from './subjects.ts';

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
