/** Finds what a typed or pasted text stands for. It is never put into a request's address or stored, because it may be an e-mail address. */
import type { SearchHit, searchReply } from '../../../protocol/operator/search.ts';
import { post, type Failure } from './api.ts';
import type { Output } from './shapes.ts';

export type SearchResult = { readonly hits: readonly SearchHit[] } | { readonly failure: Failure };

/** A session's id or ref, anywhere in what was pasted. */
const session = /s:[0-9a-f]{32}:[\w-]{7}/;

/** Each search for an e-mail address is recorded in the audit, so none is made while somebody is still typing. */
export function isAddress(text: string): boolean {
  return text.includes('@');
}

/** Searches. Of a session id only the ref is sent: it is enough to find the session, and proves nothing. */
export async function search(text: string): Promise<SearchResult> {
  const q = session.exec(text)?.[0] ?? text;
  const answer = await post<Output<typeof searchReply>>('/api/operator/search', { q });
  if (!answer.ok) return { failure: answer.failure };
  // Colons are written unescaped as everywhere else, so that a page has only one address.
  return { hits: answer.body.hits.map((hit) => ({ ...hit, href: hit.href.replaceAll('%3A', ':') })) };
}
