import { signal } from '@preact/signals';
import { post, type Failure, type Answer } from './api.ts';
import { mayChange } from './identity.ts';
import { freshness, isUnread } from './live.ts';
import type { operatorEndManyReply } from '../../../protocol/operator/session.ts';
import type { Output } from './shapes.ts';

/** Sessions that were told to end. They show "ending…" until they are read again as ended. */
export const ending = signal<ReadonlySet<string>>(new Set());

/** Ends one session. @returns why it was refused, or undefined */
export async function endSession(ref: string, reason: string): Promise<Failure | undefined> {
  ending.value = new Set([...ending.peek(), ref]);
  const answer = await post<object>(`/api/operator/sessions/${ref}/end`, { reason });
  if (answer.ok) return undefined;
  ending.value = new Set([...ending.peek()].filter((each) => each !== ref));
  return answer.failure;
}

/** Why no session can be ended here now; undefined if it can be tried. */
export function whyNoEnd(): string | undefined {
  if (!mayChange.value) return 'Your role may look, and ends nothing.';
  if (freshness.value === 'live') return undefined;
  if (isUnread.value) return 'The database does not answer: nothing is ended until it does.';
  return freshness.value === 'away' ? 'The service does not answer: nothing is ended until it does.' : undefined;
}

type Reply = Output<typeof operatorEndManyReply>;
export type OpenCount = Extract<Reply, { matched: number }>;
export type EndPartReply = Extract<Reply, { ended: number }>;

export type EndFilter = Readonly<Record<string, string>>;

/** Filter fields that cannot be used, because the service cannot end by them. */
export const NOT_FOR_ENDING = ['reason', 'endingWithinSec'] as const;

const bodyOf = (filter: EndFilter) => ({ filter, all: Object.keys(filter).length === 0 || undefined });

export function countOpen(filter: EndFilter): Promise<Answer<OpenCount>> {
  return post('/api/operator/sessions/end', { ...bodyOf(filter), dryRun: true });
}

export function endPart(
  filter: EndFilter,
  expected: number,
  reason: string,
  batchId: string | undefined,
): Promise<Answer<EndPartReply>> {
  return post('/api/operator/sessions/end', { ...bodyOf(filter), expected, reason, batchId });
}
