/** What a text that somebody typed or pasted may be. */
import { get, post } from './api.ts';
import type { Hit, Session } from './shapes.ts';

/** The id of a session, or its ref, anywhere in what was pasted. */
const session = /s:[0-9a-f]{32}:[\w-]{7}/;

/** Finds by the server's search; where there is none, sessions by their id. The text is in no address: it may be an e-mail. */
export async function search(text: string): Promise<readonly Hit[]> {
  const answer = await post<{ readonly hits: readonly Hit[] }>('/api/operator/search', { q: text });
  if (answer.ok) return answer.body.hits;
  const [ref] = session.exec(text) ?? [];
  if (answer.failure.kind !== 'missing' || ref === undefined) return [];
  const found = await get<Session>(`/api/operator/sessions/${ref}`);
  if (!found.ok) return [];
  const { tenantId, agentId, state } = found.body;
  const label = `${tenantId}${agentId === null ? '' : `/${agentId}`}, ${state}`;
  return [{ kind: 'session', id: ref, label, href: `/console/sessions/${ref}` }];
}
