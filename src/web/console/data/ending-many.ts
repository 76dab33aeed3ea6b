/** Ends all open sessions of a filter, in parts: counted first, and to be stopped between any two. */
import type { OperatorSession } from '../../../protocol/operator/session.ts';
import { post, type Answer } from './api.ts';

export interface Counted {
  readonly matched: number;
  readonly byState: Readonly<Record<'engaged' | 'idle' | 'stale', number>>;
  readonly byTenant: Readonly<Record<string, number>>;
  readonly sample: readonly OperatorSession[];
}

export interface Ended {
  readonly ended: number;
  readonly failed: number;
  readonly remaining: number;
  readonly batchId: string;
  /** Whether the audit has what came of it. */
  readonly isAudited: boolean;
}

export type EndFilter = Readonly<Record<string, string>>;

/** What a filter must not have, because the service cannot end by it. */
export const NOT_FOR_ENDING = ['reason', 'endingWithinSec'] as const;

const bodyOf = (filter: EndFilter) => ({ filter, ...(Object.keys(filter).length === 0 ? { all: true } : {}) });

export function countOpen(filter: EndFilter): Promise<Answer<Counted>> {
  return post('/api/operator/sessions/end', { ...bodyOf(filter), dryRun: true });
}

export function endPart(
  filter: EndFilter,
  expected: number,
  reason: string,
  batchId: string | undefined,
): Promise<Answer<Ended>> {
  const batch = batchId === undefined ? {} : { batchId };
  return post('/api/operator/sessions/end', { ...bodyOf(filter), expected, reason, ...batch });
}
