/** Lists with a filter and an order that somebody has saved under a name. The server stores them; links to them are `?view=` and their id. */
import { signal } from '@preact/signals';
import type { OperatorView, savedViews as savedViewsReply, saveViewReply } from '../../../protocol/operator/view.ts';
import { readKept, writeKept } from '../../shared/local-storage.ts';
import { get, isPassing, post, remove, type Answer, type Failure } from './api.ts';
import { keyOf } from './preferences.ts';
import type { Output } from './shapes.ts';

/** The key under which browsers stored views before the server did. */
const FORMERLY = keyOf('filters');
/** A whole session id would let its reader act for the session. Its first 42 characters are enough to find it. */
const wholeIds = /(s(?::|%3A)[0-9a-f]{32}(?::|%3A)[\w-]{7})[\w-]+/gi;

export const savedViews = signal<readonly OperatorView[]>([]);

/** The answer to somebody who saves an e-mail address, which is not even sent. */
const HAS_ADDRESS: Answer<never> = {
  ok: false,
  failure: {
    kind: 'refused',
    status: 0,
    code: '',
    message: 'An address is kept nowhere: not in a name, and not in a filter.',
    error: '',
    details: [],
    retryAfter: undefined,
    requestId: undefined,
  },
};

/** The link that opens a view, for everybody who may see it. */
export function viewHref({ id, href }: Pick<OperatorView, 'id' | 'href'>): string {
  return `${href.split('?')[0]}?view=${id}`;
}

/** Reads the views, after handing those that this browser still stores to the server. @returns why they could not be read */
export async function readViews(): Promise<Failure | undefined> {
  await handOver();
  const answer = await get<Output<typeof savedViewsReply>>('/api/operator/views');
  if (!answer.ok) return answer.failure;
  savedViews.value = answer.body.views;
  return undefined;
}

/** Saves a view, replacing one of the same name. */
export async function saveView(
  name: string,
  href: string,
  tenantId?: string,
): Promise<Answer<Output<typeof saveViewReply>>> {
  if (/@|%40/.test(name + href)) return HAS_ADDRESS;
  const view = { name, href: href.replace(wholeIds, '$1'), tenantId };
  const answer = await post<Output<typeof saveViewReply>>('/api/operator/views', view);
  if (answer.ok)
    savedViews.value = [answer.body.view, ...savedViews.peek().filter(({ id }) => id !== answer.body.view.id)];
  return answer;
}

/** Deletes a view. One that is there no more counts as deleted. */
export async function deleteView(id: string): Promise<Answer<unknown>> {
  const answer = await remove(`/api/operator/views/${id}`);
  if (!answer.ok && answer.failure.kind !== 'missing') return answer;
  savedViews.value = savedViews.peek().filter((view) => view.id !== id);
  return { ok: true, body: undefined, text: '' };
}

/** Hands views from this browser's storage to the server. Those that the server refuses are dropped; while it is away, they stay. */
async function handOver(): Promise<void> {
  const waiting: unknown[] = [];
  for (const one of readFormer()) {
    const { name, href } = (one ?? {}) as Readonly<Record<string, unknown>>;
    if (typeof name !== 'string' || typeof href !== 'string') continue;
    const answer = await saveView(name.trim(), href);
    if (!answer.ok && (isPassing(answer.failure) || answer.failure.kind === 'login')) waiting.push(one);
  }
  if (readKept(FORMERLY) !== null) writeKept(FORMERLY, JSON.stringify(waiting));
}

function readFormer(): readonly unknown[] {
  try {
    const kept: unknown = JSON.parse(readKept(FORMERLY) ?? '[]');
    return Array.isArray(kept) ? kept : [];
  } catch {
    return [];
  }
}
