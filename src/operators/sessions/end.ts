import type { VoiceFact, VoiceRecord, VoiceLimits } from '../../../machines/voice-session/types.ts';
import { ifAway } from '../../kernel/errors.ts';
import { randomId, refOf } from '../../kernel/ids.ts';
import { noSuchSession, Refusal } from '../../protocol/refusal.ts';
import type { HistoryFilter, HistoryRow, Position } from '../../stores/voice-history/contract.ts';
import { act, actOnMany, type ActBy } from '../journal/acts.ts';
import type { OperatorServices } from '../services.ts';
import { iso } from '../../kernel/time.ts';
import { longestMs } from '../../voice/deadlines.ts';
import { seesTenant, type Operator } from '../roles.ts';
import type { SessionQuery } from './view.ts';

/** Sessions that one request ends at most, so that it is answered within seconds. */
const MAX_ENDED = 500;
/** If the number of matches has grown by more than this share since the count, the operator must count again. */
const GROWTH = 0.1;

interface EndedOne {
  readonly record: VoiceRecord;
  /** Whether it had ended before. */
  readonly alreadyEnded: boolean;
}

/** Ends a session. Idempotent. @throws Unavailable when the database is away */
export async function endSession(
  { id, tenantId }: Pick<VoiceRecord, 'id' | 'tenantId'>,
  by: ActBy,
  services: OperatorServices,
): Promise<EndedOne | Refusal> {
  const outcome = await act(
    { action: 'session.end', target: refOf(id), tenantId },
    by,
    services,
    () => services.sessions.endForGood(id, 'closed_by_operator', by.atMs, by.requestId),
    (ended) => (isEndedBy(ended) ? 'done' : 'unchanged'),
  );
  return outcome === undefined ? noSuchSession() : { record: outcome.record, alreadyEnded: !isEndedBy(outcome) };
}

interface EndMany {
  /** Matches sessions that may be open: see `openOnly`. */
  readonly filter: HistoryFilter;
  /** How many match now, and how many the operator counted before. */
  readonly matched: number;
  readonly expected: number;
  /** The filter, as the journal names it. */
  readonly target: string;
  /** The tenant that the act as a whole concerns, where it can only be one. */
  readonly tenantId: string | null;
  /** The act that this request continues. */
  readonly batchId: string | undefined;
}

interface EndedMany {
  readonly ended: number;
  readonly failed: number;
  readonly remaining: number;
  readonly batchId: string;
  readonly isAudited: boolean;
}

/**
 * Ends at most 500 sessions that match a filter. Reports how many were ended even if the database goes away meanwhile.
 * @returns a Refusal COUNT_CHANGED when more than a tenth more match than were counted, or CONFLICT for an act that somebody else began
 * @throws Unavailable when the database is away before the first end
 */
export async function endMany(
  { filter, matched, expected, target, tenantId, batchId: begun }: EndMany,
  by: ActBy,
  services: OperatorServices,
): Promise<EndedMany | Refusal> {
  if (matched > expected * (1 + GROWTH)) return countChanged(matched, expected);
  if (begun !== undefined && (await services.core.stores.journal.beginnerOf(begun)) !== by.actor) return notBegun();
  const batchId = begun ?? `batch_${randomId()}`;
  const rows = await findSome(filter, MAX_ENDED, services.core.stores.history);
  const { done, failed, isAudited } = await actOnMany(
    { action: 'sessions.end', target, tenantId, batchId },
    rows.map(({ record: { id, tenantId: ofTenant } }) => ({
      act: { action: 'session.end', target: refOf(id), tenantId: ofTenant },
      async change() {
        const outcome = await services.sessions.endForGood(id, 'closed_by_operator', by.atMs, by.requestId);
        return isEndedBy(outcome) ? 'done' : 'unchanged';
      },
    })),
    by,
    services,
  );
  const left = await services.core.stores.history
    .countOpen(filter)
    .catch(ifAway(() => ({ matched: Math.max(0, matched - done) })));
  return { ended: done, failed, remaining: left.matched, batchId, isAudited };
}

/** Reads on after pages that stopped early without a hit. */
export async function findSome(
  filter: HistoryFilter,
  limit: number,
  history: OperatorServices['core']['stores']['history'],
): Promise<HistoryRow[]> {
  const found: HistoryRow[] = [];
  let after: Position | undefined;
  do {
    const page = await history.list(filter, after, limit - found.length);
    found.push(...page.rows);
    after = page.next;
  } while (after !== undefined && found.length < limit);
  return found;
}

/** Whether this act ended the session, which may have ended before or may be due to end by the clock. */
function isEndedBy(outcome: { readonly facts: readonly VoiceFact[] } | undefined): boolean {
  return outcome?.facts.some((fact) => fact.type === 'session.ended' && fact.reason === 'closed_by_operator') ?? false;
}

function countChanged(matched: number, expected: number): Refusal {
  const error = `${matched} sessions match now, and ${expected} were expected; count them again with dryRun.`;
  return new Refusal('COUNT_CHANGED', error, { matched });
}

function notBegun(): Refusal {
  return new Refusal(
    'CONFLICT',
    'This batchId is not of an act that you began: leave it out to begin one.',
    {},
    { fact: 'the act was begun by somebody else' },
  );
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
