/** Ends all open sessions of a filter in batches. They are counted first, and it can be stopped between two batches. */
import type { operatorEndManyReply } from '../../../protocol/operator/session.ts';
import { post, type Answer } from './api.ts';
import type { Output } from './shapes.ts';

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
