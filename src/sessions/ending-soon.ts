import { durationEndMs, longestEndMs, nextMove } from '../../machines/voice-session/selectors.ts';
import type { VoiceLimits, VoiceRecord, VoiceState } from '../../machines/voice-session/types.ts';
import { MINUTE_MS } from '../kernel/time.ts';
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
  readonly present: (rows: readonly HistoryRow[]) => Promise<readonly HistoryRow[]>;
  readonly limits: VoiceLimits;
}

/** Sessions of one state that the clock ends by one rule. */
interface Source {
  readonly state: VoiceState;
  /** From the time that its pages are sorted by to the deadline. */
  readonly lastsMs: number;
  /** Reads a page of the history. @param after where an earlier page ended, by the time that pages are sorted by */
  readonly read: (after: Position | undefined) => Promise<HistoryPage>;
  /** The time that its pages are sorted by. */
  readonly sinceMs: (record: VoiceRecord) => number;
  /** Whether the session, as it is now, ends by this rule. */
  readonly isOwn: (record: VoiceRecord) => boolean;
  /** Whether heartbeats decide, which the registry knows and the history may not. */
  readonly isOfHeartbeats: boolean;
}

interface Candidate extends Position {
  readonly row: HistoryRow;
  readonly isEnding: boolean;
}

/** Candidates in the order of their deadlines, and the position where the list was cut off. */
interface CandidatePage {
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
  const sources = sourcesOf(filter, untilMs, limit + 1, deps).filter(({ state }) => !excludes(filter, state));
  const found = await Promise.all(sources.map((source) => look(source, after, deps)));
  // Nothing is shown beyond the point where any source was cut off: that source may have more sessions in between.
  const [frontier] = found.flatMap(({ end }) => end ?? []).toSorted(inOrder);
  const all = found
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

/** Whether a filter excludes this state. A filter by end reason matches ended sessions only. */
function excludes({ states, reasons }: HistoryFilter, state: VoiceState): boolean {
  return reasons !== undefined || (states !== undefined && !states.includes(state));
}

function sourcesOf(
  filter: HistoryFilter,
  untilMs: number,
  most: number,
  { history, limits }: EndingSoonDeps,
): readonly Source[] {
  const durationMs = limits.maxMinutes * MINUTE_MS + 1;
  const staleMs = (limits.staleGraceSec + 1 + limits.staleReapSec) * 1000;
  const startedBefore = { ...filter, toMs: Math.min(filter.toMs ?? Infinity, untilMs - durationMs + 1) };
  return [
    {
      state: 'engaged',
      lastsMs: durationMs,
      read: (after) => history.list({ ...startedBefore, states: ['engaged'] }, after, most, 'startedAt'),
      sinceMs: ({ startedAtMs }) => startedAtMs,
      isOwn: (record) => !endsUnheard(record, limits),
      isOfHeartbeats: true,
    },
    {
      state: 'stale',
      lastsMs: staleMs,
      read: (after) => history.silentSince(filter, untilMs - staleMs + 1, after, most),
      sinceMs: ({ lastActivityAtMs }) => lastActivityAtMs,
      isOwn: () => true,
      isOfHeartbeats: false,
    },
    {
      state: 'engaged',
      // The session ends just after the last instant at which words count.
      lastsMs: 1,
      read: (after) => history.wordsDueBefore(filter, untilMs, after, most),
      sinceMs: ({ wordsDueAtMs }) => wordsDueAtMs,
      isOwn: (record) => endsUnheard(record, limits),
      isOfHeartbeats: true,
    },
  ];
}

/** Whether the session ends early because its new visitor has not spoken. */
function endsUnheard(record: VoiceRecord, limits: VoiceLimits): boolean {
  return durationEndMs(record, limits) < longestEndMs(record, limits);
}

async function look(
  { lastsMs, read, sinceMs, isOwn, isOfHeartbeats }: Source,
  after: Position | undefined,
  { present, limits }: EndingSoonDeps,
): Promise<CandidatePage> {
  const { rows, next } = await read(after && { atMs: after.atMs - lastsMs, id: after.id });
  // The order comes from the history.
  const deadlines = new Map(rows.map(({ record }) => [record.id, sinceMs(record) + lastsMs]));
  const candidates = (isOfHeartbeats ? await present(rows) : rows).map((row) => {
    const { record } = row;
    const isEnding = isOwn(record) && nextMove(record, limits)?.to === 'ended';
    return { atMs: deadlines.get(record.id) ?? 0, id: record.id, row, isEnding };
  });
  return { candidates, end: next && { atMs: next.atMs + lastsMs, id: next.id } };
}

function inOrder(a: Position, b: Position): number {
  return a.atMs - b.atMs || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}
