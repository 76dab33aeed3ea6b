/** The tenant that somebody looks at. Each list has it in its address, as `tenantId`; what leads from list to list carries it along. */
import { queryText } from './query.ts';

type Query = Readonly<Record<string, string>>;

/** Where somebody came from a list to one thing, which shows no tenant of its own in the address. */
let last = '';

/** A page that lists, or sums up: all others are about one thing. */
const isList = (path: string): boolean => path.split('/').length <= 3;

/** The scope of a page; that of one thing is the scope of the list before. */
export function scopeOf(path: string, query: Query): string {
  const named = query['tenantId']?.trim() ?? '';
  if (isList(path)) last = named;
  return named === '' ? last : named;
}

/** A link of the console, to what it leads to in a scope; a tenant that it names itself holds. */
export function inScope(href: string, tenantId: string): string {
  if (tenantId === '' || /[?&]tenantId=/.test(href)) return href;
  return `${href}${queryText({ tenantId }).replace('?', href.includes('?') ? '&' : '?')}`;
}

/** The page in another scope: a list of the same, from one thing the list of such things. */
export function otherScope(path: string, query: Query, tenantId: string): string {
  return isList(path)
    ? `${path}${queryText({ ...query, tenantId })}`
    : `${path.split('/').slice(0, 3).join('/')}${queryText({ tenantId })}`;
}
