/** What a text that somebody typed or pasted stands for. It is in no address of a request and nowhere kept: it may be an e-mail. */
import type { SearchHit, searchReply } from '../../../protocol/operator/search.ts';
import { post, type Failure } from './api.ts';
import type { Output } from './shapes.ts';

export type SearchResult = { readonly hits: readonly SearchHit[] } | { readonly failure: Failure };

/** The id of a session, or its ref, anywhere in what was pasted. */
const session = /s:[0-9a-f]{32}:[\w-]{7}/;

/** Each search of an address is kept in the audit: none is asked for while somebody types. */
export function isAddress(text: string): boolean {
  return text.includes('@');
}

/** Of an id its ref alone is sent: it names as much, and proves nothing. */
export async function search(text: string): Promise<SearchResult> {
  const q = session.exec(text)?.[0] ?? text;
  const answer = await post<Output<typeof searchReply>>('/api/operator/search', { q });
  if (!answer.ok) return { failure: answer.failure };
  // One page has one address: colons are written as they are everywhere else.
  return { hits: answer.body.hits.map((hit) => ({ ...hit, href: hit.href.replaceAll('%3A', ':') })) };
}
