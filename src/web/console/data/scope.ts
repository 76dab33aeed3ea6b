/** The tenant that the operator looks at. Each list has it in its address as `tenantId`, and links between lists carry it along. */
import { queryText } from './query.ts';

type Query = Readonly<Record<string, string>>;

/** The scope of the last list. The page of a single item has no tenant in its address. */
let last = '';

/** Whether a page is a list or a summary. All others are about a single item. */
const isList = (path: string): boolean => path.split('/').length <= 3;

/** The scope of a page; for a single item, that of the list before it. */
export function scopeOf(path: string, query: Query): string {
  const named = query['tenantId']?.trim() ?? '';
  if (isList(path)) last = named;
  return named === '' ? last : named;
}

/** A console link in a scope. A tenant that the link names itself takes precedence. */
export function inScope(href: string, tenantId: string): string {
  if (tenantId === '' || /[?&]tenantId=/.test(href)) return href;
  return `${href}${queryText({ tenantId }).replace('?', href.includes('?') ? '&' : '?')}`;
}

/** The same page in another scope; for a single item, the list of such items. */
export function otherScope(path: string, query: Query, tenantId: string): string {
  return isList(path)
    ? `${path}${queryText({ ...query, tenantId })}`
    : `${path.split('/').slice(0, 3).join('/')}${queryText({ tenantId })}`;
}
