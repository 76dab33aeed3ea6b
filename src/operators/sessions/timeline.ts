import type { VoiceRecord } from '../../../machines/voice-session/types.ts';
import { refOf } from '../../kernel/ids.ts';
import { MINUTE_MS } from '../../kernel/time.ts';
import { ABOUT, type About, type OperatorEvent } from '../../protocol/operator/event.ts';
import {
  MAX_TALLIED,
  type Entry,
  type EntryKind,
  type JournalPosition,
  type JournalQuery,
} from '../../stores/journal/contract.ts';
import type { Webhooks } from '../../stores/webhooks/contract.ts';
import type { Operator } from '../roles.ts';
import type { OperatorServices } from '../services.ts';
import { deliveryRow, journalRow, toolCallsInOrder, toolRow, usageRow } from './timeline-rows.ts';

/** What a timeline reads from. */
type Services = OperatorServices & {
  readonly webhooks: { readonly endpoints: { readonly webhooks: Pick<Webhooks, 'ofSession'> } };
};

/** The most deliveries in a session's timeline, and the most refusals that are counted. */
const MAX_DELIVERIES = 1000;
const MAX_COUNTED_REFUSALS = 200;
const MAX_COUNTED: Partial<Record<About, number>> = { refusal: MAX_COUNTED_REFUSALS, webhook: MAX_DELIVERIES };
/** Subjects that are counted together, up to `MAX_TALLIED` rows. */
const TALLIED = new Set<About>(['session', 'call', 'operator', 'warning']);
/** A client that has not heard of the end is refused for a while after it. */
const AFTER_END_MS = MINUTE_MS;

/** Notes about the session itself; the others are about what they are named for. */
const SESSION_NOTES = ['gap', 'attached', 'detached'];

/** Each source numbers its own rows. At the same instant, rows of the first source come last. */
const SOURCES = ['journal', 'usage', 'tools', 'webhooks'] as const;

/** Where a page ends: a time, the index of a source, and the ordinal of the row in it. */
export type TimelinePosition = readonly [atMs: number, source: number, ordinal: number];

/** A row and its position; rows are ordered by time, source and ordinal. */
interface PlacedRow {
  readonly at: TimelinePosition;
  readonly row: OperatorEvent;
}

interface SourcePage {
  /** Newest first. */
  readonly rows: readonly PlacedRow[];
  /** How far the source was read; undefined where it was read to its end. */
  readonly end: TimelinePosition | undefined;
}

export interface TimelinePage {
  readonly events: readonly OperatorEvent[];
  readonly next: TimelinePosition | undefined;
}

interface TimelineQuery {
  readonly record: VoiceRecord;
  readonly about: ReadonlySet<About>;
  readonly after: TimelinePosition | undefined;
  readonly limit: number;
  readonly atMs: number;
  readonly operator: Operator;
}

/**
 * Everything that happened in a session, newest first, from the journal, the ledger, its tool calls and its webhooks, as one list.
 * @throws Unavailable when the database is away
 */
export async function timelineOf(asked: TimelineQuery, services: Services): Promise<TimelinePage> {
  const calls = (await services.calls.ofSession(asked.record.id)).map(({ id }) => id);
  const found = await Promise.all([
    ...journalQueries(asked, calls).map((query) => fromJournal(query, asked, services)),
    ...(asked.about.has('usage') ? [fromLedger(asked, services)] : []),
    ...(asked.about.has('tool') ? [fromTools(asked, services)] : []),
    ...(asked.about.has('webhook') ? [fromWebhooks(asked, services)] : []),
  ]);
  return mergedPage(found, asked.limit);
}

/** Merges the rows of several sources into one page. It ends where the first source stopped, because later rows may be missing. */
function mergedPage(found: readonly SourcePage[], limit: number): TimelinePage {
  const ends = found.flatMap(({ end }) => (end === undefined ? [] : [end])).toSorted(newestFirst);
  const [end] = ends;
  const rows = found
    .flatMap((one) => one.rows)
    .filter(({ at }) => end === undefined || newestFirst(at, end) <= 0)
    .toSorted((one, other) => newestFirst(one.at, other.at));
  const shown = rows.slice(0, limit);
  return { events: shown.map(({ row }) => row), next: rows.length > limit ? shown.at(-1)?.at : end };
}

function newestFirst(one: TimelinePosition, other: TimelinePosition): number {
  return other[0] - one[0] || other[1] - one[1] || other[2] - one[2];
}

export interface TimelineCounts {
  readonly counts: Record<About, number>;
  /** Subjects whose count reached its maximum: there may be more rows. */
  readonly atLeast: readonly About[];
}

/** The number of rows for each subject. @throws Unavailable when the database is away */
export async function timelineCounts(
  { record, atMs, operator }: Pick<TimelineQuery, 'record' | 'atMs' | 'operator'>,
  services: Services,
): Promise<TimelineCounts> {
  const { journal, usageReports, toolCalls } = services.core.stores;
  const ref = refOf(record.id);
  const calls = (await services.calls.ofSession(record.id)).map(({ id }) => id);
  const [tally, refusals, usage, tools, deliveries] = await Promise.all([
    journal.tally([ref, ...calls]),
    journal.list(refusalsOf(record, atMs, operator), undefined, MAX_COUNTED_REFUSALS),
    usageReports.countEntries(record.id),
    toolCalls.ofSession(record.id),
    deliveriesOf(record, operator, services),
  ]);
  const counts = Object.fromEntries(ABOUT.map((about) => [about, 0])) as Record<About, number>;
  for (const { target, kind, code, count } of tally) {
    const about = aboutOf(kind, code, target !== ref);
    // Usage is counted from the ledger's entries, not from the journal's notes.
    if (about !== 'usage') counts[about] += count;
  }
  counts.refusal = refusals.entries.length;
  counts.usage = usage;
  counts.tool = tools.length;
  counts.webhook = deliveries.length;
  const isTallyCut = tally.reduce((sum, { count }) => sum + count, 0) >= MAX_TALLIED;
  const isCut = (about: About): boolean =>
    TALLIED.has(about) ? isTallyCut && counts[about] > 0 : counts[about] >= (MAX_COUNTED[about] ?? Infinity);
  return { counts, atLeast: ABOUT.filter(isCut) };
}

function aboutOf(kind: EntryKind, code: string, isOfCall: boolean): About {
  if (kind === 'act') return 'operator';
  if (kind === 'refusal') return 'refusal';
  if (kind === 'transition') return isOfCall ? 'call' : 'session';
  return code === 'usage' ? 'usage' : code === 'warned' ? 'warning' : 'session';
}

type SessionKind = 'transition' | 'note' | 'act' | 'refusal';

/** The queries to the journal. They do not check the session's tenant again. */
function journalQueries(asked: TimelineQuery, calls: readonly string[]): JournalQuery<SessionKind>[] {
  const { about, record, atMs, operator } = asked;
  const ref = refOf(record.id);
  const targets = [...(about.has('session') ? [ref] : []), ...(about.has('call') ? calls : [])];
  const notes = [...(about.has('session') ? SESSION_NOTES : []), ...(about.has('warning') ? ['warned'] : [])];
  const all: JournalQuery<SessionKind>[] = [];
  if (targets.length > 0) all.push({ kinds: ['transition'], tenants: '*', target: targets });
  if (notes.length > 0) all.push({ kinds: ['note'], tenants: '*', target: ref, code: notes });
  if (about.has('operator')) all.push({ kinds: ['act'], tenants: '*', target: ref });
  if (about.has('refusal')) all.push(refusalsOf(record, atMs, operator));
  return all;
}

/** The refusals of a session's subject, from its start until its client has heard of the end. */
export function refusalsOf(
  { subject, startedAtMs, endedAtMs }: VoiceRecord,
  atMs: number,
  { tenants }: Operator,
): JournalQuery<'refusal'> {
  const beforeMs = Math.min(atMs, (endedAtMs ?? atMs) + AFTER_END_MS) + 1;
  return { kinds: ['refusal'], subject, fromMs: startedAtMs, beforeMs, tenants };
}

/** Where a source continues after a position in the merged list. */
function within(source: (typeof SOURCES)[number], after: TimelinePosition | undefined): JournalPosition | undefined {
  if (after === undefined) return undefined;
  const [atMs, of, ordinal] = after;
  const own = SOURCES.indexOf(source);
  return { atMs, ordinal: of === own ? ordinal : of > own ? Number.MAX_SAFE_INTEGER : 0 };
}

function placed(source: (typeof SOURCES)[number], atMs: number, ordinal: number): TimelinePosition {
  return [atMs, SOURCES.indexOf(source), ordinal];
}

async function fromJournal(
  query: JournalQuery<SessionKind>,
  { record, after, limit, operator }: TimelineQuery,
  { core: { stores } }: Services,
): Promise<SourcePage> {
  const page = await stores.journal.list(query, within('journal', after), limit);
  const ref = refOf(record.id);
  const rows = page.entries.map((entry: Entry<SessionKind>) => ({
    at: placed('journal', entry.atMs, entry.ordinal),
    row: journalRow(entry, aboutOf(entry.kind, entry.code, entry.of.target !== ref), operator),
  }));
  return { rows, end: page.next && placed('journal', page.next.atMs, page.next.ordinal) };
}

async function fromLedger(
  { record, after, limit }: TimelineQuery,
  { core: { stores } }: Services,
): Promise<SourcePage> {
  const entries = await stores.usageReports.entriesOf(record.id, within('usage', after), limit + 1);
  const rows = entries
    .slice(0, limit)
    .map((entry) => ({ at: placed('usage', entry.atMs, entry.ordinal), row: usageRow(entry) }));
  return { rows, end: entries.length > limit ? rows.at(-1)?.at : undefined };
}

async function fromTools({ record, after, atMs }: TimelineQuery, { core: { stores } }: Services): Promise<SourcePage> {
  const calls = toolCallsInOrder(await stores.toolCalls.ofSession(record.id));
  const rows = calls.map(([ordinal, call]) => ({
    at: placed('tools', call.askedAtMs, ordinal),
    row: toolRow(call, ordinal, atMs),
  }));
  return { rows: rows.filter(isAfter(after)), end: undefined };
}

async function fromWebhooks(asked: TimelineQuery, services: Services): Promise<SourcePage> {
  const deliveries = await deliveriesOf(asked.record, asked.operator, services);
  // Newest comes first, and ordinals count up within an instant.
  let ordinal = 0;
  const rows = deliveries.toReversed().map((delivery, index, oldestFirst) => {
    ordinal = delivery.atMs === oldestFirst[index - 1]?.atMs ? ordinal + 1 : 1;
    return { at: placed('webhooks', delivery.atMs, ordinal), row: deliveryRow(delivery) };
  });
  return { rows: rows.filter(isAfter(asked.after)), end: undefined };
}

const isAfter =
  (after: TimelinePosition | undefined) =>
  ({ at }: PlacedRow): boolean =>
    after === undefined || newestFirst(after, at) < 0;

function deliveriesOf({ id }: VoiceRecord, { tenants }: Operator, { webhooks }: Services) {
  return webhooks.endpoints.webhooks.ofSession(refOf(id), tenants, MAX_DELIVERIES);
}
