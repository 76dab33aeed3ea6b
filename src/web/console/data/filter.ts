/** The filter of the sessions list. It is in the page's address, so that a link shows what its sender saw. */
import type { FeedFilterSent } from '../../../protocol/operator/feed.ts';
import { instantOf } from './query.ts';

/** The names under which it is in the address. */
export const FILTER_NAMES = [
  'state',
  'tenantId',
  'keyId',
  'agentId',
  'caller',
  'subject',
  'reason',
  'from',
  'to',
  'endingWithinSec',
  'q',
  'sort',
] as const;

export type FilterName = (typeof FILTER_NAMES)[number];
/** What is chosen in a page's address under some names. */
export type FilterOf<Name extends string> = { readonly [N in Name]?: string | undefined };
export type Filter = FilterOf<FilterName>;

/** The filter for the API, with times as instants: `-1h` is an hour before `atMs`. */
export function askedFilter(filter: Filter, atMs: number): URLSearchParams {
  const asked = new URLSearchParams();
  for (const name of FILTER_NAMES) {
    const value = filter[name];
    if (value !== undefined) asked.set(name, name === 'from' || name === 'to' ? instantOf(value, atMs) : value);
  }
  return asked;
}

/** The filter for the feed. The feed has no times in its filter, and reports changes at any time. */
export function feedFilter({ tenantId, agentId, keyId, reason, state, caller }: Filter): FeedFilterSent {
  return { tenantId, agentId, keyId, reason, state, caller: caller as FeedFilterSent['caller'] };
}

/** A list with one value added, or removed if it was there. */
export function toggled(list: string, value: string): string {
  const values = list.split(',').filter(Boolean);
  return (values.includes(value) ? values.filter((each) => each !== value) : [...values, value]).join(',');
}
