/** The filter of the sessions list. It is in the page's address, so that a link shows what its sender saw. */
import type { FeedFilterSent } from '../../../protocol/operator/feed.ts';
import { instantOf, queryText } from './query.ts';

const NAMES = [
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

export type FilterName = (typeof NAMES)[number];
export type Filter = Readonly<Partial<Record<FilterName, string>>>;

/** Reads the filter from the page's query, ignoring unknown names. */
export function readFilter(query: Readonly<Record<string, string>>): Filter {
  return Object.fromEntries(
    NAMES.flatMap((name) => {
      const value = query[name]?.trim();
      return value === undefined || value === '' ? [] : [[name, value]];
    }),
  );
}

/** The filter as a query with its question mark; empty if it filters nothing. */
export function filterQuery(filter: Filter): string {
  return queryText(Object.fromEntries(NAMES.map((name) => [name, filter[name]])));
}

/** The filter for the API, with times as instants: `-1h` is an hour before `atMs`. */
export function askedFilter(filter: Filter, atMs: number): URLSearchParams {
  const asked = new URLSearchParams();
  for (const name of NAMES) {
    const value = filter[name];
    if (value !== undefined) asked.set(name, name === 'from' || name === 'to' ? instantOf(value, atMs) : value);
  }
  return asked;
}

/** The filter for the feed. The feed has no times in its filter, and reports changes at any time. */
export function feedFilter({ state, caller, ...filter }: Filter): FeedFilterSent {
  const { tenantId, agentId, keyId, reason } = filter;
  return {
    ...(tenantId === undefined ? {} : { tenantId }),
    ...(agentId === undefined ? {} : { agentId }),
    ...(keyId === undefined ? {} : { keyId }),
    ...(reason === undefined ? {} : { reason }),
    ...(state === undefined ? {} : { state }),
    ...(caller === undefined ? {} : { caller: caller as NonNullable<FeedFilterSent['caller']> }),
  };
}

/** A list with one value added, or removed if it was there. */
export function toggled(list: string | undefined, value: string): string {
  const values = (list ?? '').split(',').filter(Boolean);
  return (values.includes(value) ? values.filter((each) => each !== value) : [...values, value]).join(',');
}
