import { durationEndMs, longestEndMs, nextMove } from '../../machines/voice-session/selectors.ts';
import type { VoiceLimits, VoiceRecord, VoiceState } from '../../machines/voice-session/types.ts';
import type {
  HistoryFilter,
  HistoryPage,
  HistoryRow,
  Position,
  VoiceHistory,
} from '../stores/voice-history/contract.ts';

export interface EndingSoonDeps {
  readonly history: Pick<VoiceHistory, 'list' | 'silentSince' | 'wordsDueBefore'>;
  /** Rows of the history with the times of the live registry. */
  present(rows: readonly HistoryRow[]): Promise<readonly HistoryRow[]>;
  readonly limits: VoiceLimits;
}

interface Candidate extends Position {
  readonly row: HistoryRow;
  readonly isEnding: boolean;
}

/** Candidates in the order of their deadlines, and the position where the list was cut off. */
interface Source {
  readonly candidates: readonly Candidate[];
  readonly end: Position | undefined;
}

/**
 * Sessions that the clock ends before a time, the next one first: engaged ones, whose duration ends in the order in which they started; those of new
 * visitors who have not spoken yet; and stale ones, which are given up in the order of their last activity.
 * @param after the deadline and the id at which an earlier page ended
 * @throws Unavailable when the database is away
 */
export async function endingSoon(
  filter: HistoryFilter,
  untilMs: number,
  after: Position | undefined,
  limit: number,
  deps: EndingSoonDeps,
): Promise<HistoryPage> {
  const sources = await Promise.all([
    engaged(filter, untilMs, after, limit, deps),
    stale(filter, untilMs, after, limit, deps),
    unheard(filter, untilMs, after, limit, deps),
  ]);
  // Nothing is shown beyond the point where any source was cut off: that source may have more sessions in between.
  const ends = sources.flatMap(({ end }) => end ?? []).toSorted(inOrder);
  const [frontier] = ends;
  const all = sources
    .flatMap(({ candidates }) => candidates)
    .filter((one) => frontier === undefined || inOrder(one, frontier) <= 0)
    .toSorted(inOrder);
  const ending = all.filter(({ isEnding }) => isEnding);
  const shown = ending.slice(0, limit);
  const isFull = ending.length > limit;
  const next = isFull ? shown.at(-1) : frontier;
  return {
    rows: shown.map(({ row }) => row),
    next: next && { atMs: next.atMs, id: next.id },
    isPartial: !isFull && shown.length < limit && frontier !== undefined,
  };
}

const NOTHING: Source = { candidates: [], end: undefined };

/** Whether a filter excludes this state. A filter by end reason matches ended sessions only. */
function excludes({ states, reasons }: HistoryFilter, state: VoiceState): boolean {
  return reasons !== undefined || (states !== undefined && !states.includes(state));
}

async function engaged(
  filter: HistoryFilter,
  untilMs: number,
  after: Position | undefined,
  limit: number,
  deps: EndingSoonDeps,
): Promise<Source> {
  if (excludes(filter, 'engaged')) return NOTHING;
  const lastsMs = deps.limits.maxMinutes * 60_000 + 1;
  const toMs = Math.min(filter.toMs ?? Infinity, untilMs - lastsMs + 1);
  const page = await deps.history.list(
    { ...filter, states: ['engaged'], toMs },
    after && { atMs: after.atMs - lastsMs, id: after.id },
    limit + 1,
    'startedAt',
  );
  // Whether a session goes idle before its duration ends depends on its last activity, which the registry knows.
  const present = { ...page, rows: await deps.present(page.rows) };
  const isOwn = ({ record }: HistoryRow): boolean => !endsUnheard(record, deps.limits);
  return sourceOf(present, lastsMs, deps.limits, ({ record }) => record.startedAtMs, isOwn);
}

/** The session ends just after the last instant at which words count. */
const UNHEARD_MS = 1;

async function unheard(
  filter: HistoryFilter,
  untilMs: number,
  after: Position | undefined,
  limit: number,
  deps: EndingSoonDeps,
): Promise<Source> {
  if (excludes(filter, 'engaged')) return NOTHING;
  const position = after && { atMs: after.atMs - UNHEARD_MS, id: after.id };
  const page = await deps.history.wordsDueBefore(filter, untilMs, position, limit + 1);
  // The order comes from the history; the registry knows who has spoken meanwhile.
  const present = { ...page, rows: await deps.present(page.rows) };
  const dueAtMs = new Map(page.rows.map(({ record }) => [record.id, record.wordsDueAtMs]));
  const isOwn = ({ record }: HistoryRow): boolean => endsUnheard(record, deps.limits);
  return sourceOf(present, UNHEARD_MS, deps.limits, ({ record }) => dueAtMs.get(record.id) ?? 0, isOwn);
}

/** Whether the session ends early because its new visitor has not spoken. */
function endsUnheard(record: VoiceRecord, limits: VoiceLimits): boolean {
  return durationEndMs(record, limits) < longestEndMs(record, limits);
}

async function stale(
  filter: HistoryFilter,
  untilMs: number,
  after: Position | undefined,
  limit: number,
  deps: EndingSoonDeps,
): Promise<Source> {
  if (excludes(filter, 'stale')) return NOTHING;
  const { staleGraceSec, staleReapSec } = deps.limits;
  const lastsMs = (staleGraceSec + 1 + staleReapSec) * 1000;
  const page = await deps.history.silentSince(
    filter,
    untilMs - lastsMs + 1,
    after && { atMs: after.atMs - lastsMs, id: after.id },
    limit + 1,
  );
  return sourceOf(page, lastsMs, deps.limits, ({ record }) => record.lastActivityAtMs);
}

/**
 * @param lastsMs from the time that the page is sorted by to the deadline
 * @param isOwn whether the session ends by the deadline that this source sorts by
 */
function sourceOf(
  { rows, next }: HistoryPage,
  lastsMs: number,
  limits: VoiceLimits,
  sinceMs: (row: HistoryRow) => number,
  isOwn: (row: HistoryRow) => boolean = () => true,
): Source {
  const candidates = rows.map((row) => {
    const isEnding = isOwn(row) && nextMove(row.record, limits)?.to === 'ended';
    return { atMs: sinceMs(row) + lastsMs, id: row.record.id, row, isEnding };
  });
  return { candidates, end: next && { atMs: next.atMs + lastsMs, id: next.id } };
}

function inOrder(a: Position, b: Position): number {
  return a.atMs - b.atMs || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}
