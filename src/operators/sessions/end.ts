import type { VoiceFact, VoiceRecord } from '../../../machines/voice-session/types.ts';
import { ifAway } from '../../kernel/errors.ts';
import { randomId, refOf } from '../../kernel/ids.ts';
import { noSuchSession, Refusal } from '../../protocol/refusal.ts';
import type { HistoryFilter, HistoryRow, Position } from '../../stores/voice-history/contract.ts';
import { act, actOnMany, type ActBy } from '../act.ts';
import type { OperatorServices } from '../services.ts';

/** One call ends at most so many, so that it is answered within seconds. */
const MAX_ENDED = 500;
/** More than was counted by this share is another thing than what was meant. */
const GROWTH = 0.1;

interface EndedOne {
  readonly record: VoiceRecord;
  /** Whether it was over before. */
  readonly alreadyEnded: boolean;
}

/** Ends a session. Again changes nothing. @throws Unavailable when the database is away */
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
  /** Of sessions that may be open: see `openOnly`. */
  readonly filter: HistoryFilter;
  /** How many fit it now, and how many whoever asks counted before. */
  readonly matched: number;
  readonly expected: number;
  /** The filter, as the journal names it. */
  readonly target: string;
  /** Whose the act as a whole is: of one tenant where only one can be meant. */
  readonly tenantId: string | null;
  /** Of the act that this goes on with. */
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
 * Ends at most 500 sessions that a filter fits. What was ended is told also where the database went away meanwhile.
 * @returns a Refusal COUNT_CHANGED when more fit than were counted, by a tenth, or CONFLICT for an act that somebody else began
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

/** Pages that looked through enough without a hit are followed by the next. */
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

/** Whether it was this act that ended the session: it may have ended before, or be due to end by the clock. */
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
