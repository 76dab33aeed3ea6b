import { HOUR_MS, MINUTE_MS } from '../durations.ts';
import type { AuthLimits, AuthRecord, AuthState } from './types.ts';

/** The state of a login at a time: it is over from the instant of its expiry on. */
export function classify(record: AuthRecord, at: number): AuthState {
  return record.destroyedAtMs !== null || at >= record.expiresAtMs ? 'destroyed' : 'active';
}

/** When a login that is renewed at `at` expires: sliding, up to the absolute limit. */
export function expiryFrom(createdAtMs: number, at: number, limits: AuthLimits): number {
  const sliding = at + limits.expiryHours * HOUR_MS;
  return limits.absoluteHours === 0 ? sliding : Math.min(sliding, createdAtMs + limits.absoluteHours * HOUR_MS);
}

/** Whether activity at a time renews the cookie: at most once a minute (docs/contract.md, section 6.4). */
export function isRenewalDue(record: AuthRecord, at: number, limits: AuthLimits): boolean {
  return at - record.renewedAtMs >= MINUTE_MS && expiryFrom(record.createdAtMs, at, limits) > record.expiresAtMs;
}
