import type { z } from 'zod';
import type { VoiceLimits } from '../../../machines/voice-session/types.ts';
import { refOf } from '../../kernel/ids.ts';
import { iso } from '../../kernel/time.ts';
import type { sessionFilters } from '../../protocol/operator/session.ts';
import type { HistoryFilter } from '../../stores/voice-history/contract.ts';
import { longestMs } from '../../voice/deadlines.ts';
import { seesTenant, tenantsOf, type Operator } from '../roles.ts';

/** Which sessions an operator asks for. */
type SessionQuery = Partial<Omit<z.output<typeof sessionFilters>, 'cursor' | 'limit' | 'sort' | 'endingWithinSec'>>;

/** The filter for what an operator asks for, limited to what they may see. */
export function toHistoryFilter(
  { state, reason, tenantId, agentId, keyId, caller, subject, from, to, q }: SessionQuery,
  operator: Operator,
): HistoryFilter {
  const tenants = tenantsOf(operator);
  return {
    states: state,
    reasons: reason,
    tenantId,
    tenants,
    agentId,
    keyId,
    caller,
    subject,
    fromMs: from,
    toMs: to,
    idPrefix: q,
  };
}

/** Limits a filter to sessions that may be open. Older ones have ended, so that the search does not read the whole history. */
export function openOnly(filter: HistoryFilter, atMs: number, limits: VoiceLimits): HistoryFilter {
  const { states = ['engaged', 'idle', 'stale'], fromMs = -Infinity } = filter;
  return {
    ...filter,
    states: states.filter((state) => state !== 'ended'),
    fromMs: Math.max(fromMs, atMs - longestMs(limits)),
  };
}

/** The filter written as a query; a session is named by its ref only. */
export function nameOfFilter({ q, from, to, ...rest }: SessionQuery): string {
  const parts = {
    ...rest,
    from: from === undefined ? undefined : iso(from),
    to: to === undefined ? undefined : iso(to),
    q: q === undefined ? undefined : refOf(q),
  };
  const named = Object.entries(parts).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${String(value)}`],
  );
  return named.length === 0 ? 'all' : named.join('&');
}

/** The tenant whose sessions a filter matches, where it can only be one. */
export function tenantMeant({ tenantId }: SessionQuery, operator: Operator): string | null {
  const { tenants } = operator;
  if (tenantId !== undefined) return seesTenant(operator, tenantId) ? tenantId : null;
  return tenants !== '*' && tenants.length === 1 ? (tenants[0] ?? null) : null;
}
