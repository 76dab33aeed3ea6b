/** Addresses of pages. What is chosen on a page is in its query, so that a link shows what its sender saw. */

import { DAY_MS, HOUR_MS, MINUTE_MS } from './durations.ts';

const UNIT_MS: Readonly<Record<string, number>> = { m: MINUTE_MS, h: HOUR_MS, d: DAY_MS };

/** Values as a query with its question mark; empty if there are none. */
export function queryText(values: Readonly<Record<string, string | null | undefined>>): string {
  const parts = Object.entries(values).flatMap(([name, value]) =>
    value == null || value === '' ? [] : [`${name}=${encode(value)}`],
  );
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
}

/** A time in a query as an instant: `-1h` is an hour before `atMs`. Anything else is returned unchanged. */
export function instantOf(value: string, atMs: number): string {
  const [, count, unit = ''] = /^-(\d+)([mhd])$/.exec(value) ?? [];
  return count === undefined ? value : new Date(atMs - Number(count) * (UNIT_MS[unit] ?? 0)).toISOString();
}

// Commas and colons are easier to read unescaped.
function encode(value: string): string {
  return encodeURIComponent(value).replaceAll('%2C', ',').replaceAll('%3A', ':');
}
