import type { EndReason, VoiceRecord, VoiceState } from '../../../machines/voice-session/types.ts';
import type { SessionLimits } from '../../protocol/session.ts';
import type { CallTicket } from '../call-tickets/contract.ts';
import type { SessionSetup } from '../session-setups/contract.ts';

export interface HistoryFilter {
  /** One of these states. */
  readonly states?: readonly VoiceState[] | undefined;
  /** Ended for one of these reasons. */
  readonly reasons?: readonly EndReason[] | undefined;
  readonly tenantId?: string | undefined;
  /** One of these tenants; all if not given. */
  readonly tenants?: readonly string[] | undefined;
  readonly keyId?: string | undefined;
  readonly agentId?: string | undefined;
  readonly caller?: VoiceRecord['caller'] | undefined;
  readonly subject?: string | undefined;
  /** Started at this time or later. */
  readonly fromMs?: number | undefined;
  /** Started before this time. */
  readonly toMs?: number | undefined;
  /** What the ids begin with: if more than 10,000 begin like this, any 10,000 of them are searched. */
  readonly idPrefix?: string | undefined;
}

/** The order of a list: newest first, oldest first, or only ended sessions with the latest end first. */
export const HISTORY_SORTS = ['-startedAt', 'startedAt', '-endedAt'] as const;

export type HistorySort = (typeof HISTORY_SORTS)[number];

/** Where a page ends: the time that it is sorted by and the id of its last session, or a text that sorts before or after all ids. */
export interface Position {
  readonly atMs: number;
  readonly id: string;
}

/** A record with the state it had when it was saved. */
export interface HistoryRow {
  readonly record: VoiceRecord;
  readonly state: VoiceState;
}

/** A session that is being opened, and what is stored with its record: all of it or nothing. */
export interface OpenedSession extends HistoryRow {
  readonly setup?: SessionSetup | undefined;
  /** For a brokered session: its bearer may open the first call. */
  readonly ticket?: CallTicket | undefined;
  /** As its client is told them. They are not stored: webhooks are told. */
  readonly limits?: SessionLimits | undefined;
}

/** A page of a list. */
export interface Page<Row, Place = Position> {
  readonly rows: readonly Row[];
  /** The next page begins after it; undefined on the last page. */
  readonly next: Place | undefined;
  /** Whether the page is short because enough rows were scanned, up to `next`. */
  readonly isPartial: boolean;
}

export type HistoryPage = Page<HistoryRow>;

export interface HistoryCounts {
  readonly byState: Readonly<Record<VoiceState, number>>;
  readonly byCaller: Readonly<Record<VoiceRecord['caller'], number>>;
  readonly byTenant: Readonly<Record<string, number>>;
}

/** Sessions that will end by the clock by some instant. */
export interface EndingFilter {
  /** Engaged sessions that began then or earlier. */
  readonly engagedSinceMs: number;
  /** Stale sessions whose last activity was then or earlier. */
  readonly staleSinceMs: number;
  /** Engaged sessions that began later, and in which words of a new visitor are due by then. */
  readonly wordsDueByMs: number;
  /** One of these tenants; all if not given. */
  readonly tenants?: readonly string[] | undefined;
}

export interface KeyCount {
  readonly tenantId: string;
  readonly keyId: string;
  readonly sessions: number;
}

/** How many sessions that have not ended match a filter. */
export interface OpenCounts {
  readonly matched: number;
  readonly byState: Readonly<Record<Exclude<VoiceState, 'ended'>, number>>;
  readonly byTenant: Readonly<Record<string, number>>;
}

/** What a save reports about the sessions that it changed. */
export interface SaveOutcome {
  /** The ids of the sessions that this call ended: each session appears in only one such answer. */
  readonly ended: readonly string[];
}

/** What must never be lost about voice sessions. All methods: @throws Unavailable when the database is away. */
export interface VoiceHistory {
  /** Written before the create is answered. Inserting an id twice changes nothing. */
  insert(opened: OpenedSession): Promise<void>;
  find(id: string): Promise<VoiceRecord | undefined>;
  /**
   * Saves newer versions, in one statement. An end is saved whatever its version, because an end always wins; other older versions, and changes to an
   * ended session, are ignored.
   */
  save(rows: readonly HistoryRow[]): Promise<SaveOutcome>;
  /** Stores the visitor's rating of a session, replacing the one before. */
  rate(id: string, rating: number): Promise<void>;
  /** The ratings of the given sessions; sessions without one are left out. */
  ratingsOf(ids: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Sessions that have not ended, ordered by id, after `afterId`. */
  active(afterId: string, limit: number): Promise<VoiceRecord[]>;
  /** Those of the given sessions that have ended. */
  endedAmong(ids: readonly string[]): Promise<VoiceRecord[]>;
  /** Sessions that ended at `sinceMs` or later, latest first. */
  endedSince(sinceMs: number, limit: number): Promise<VoiceRecord[]>;
  /** The subject's sessions that have not ended. */
  activeOf(subject: string): Promise<VoiceRecord[]>;
  /** The widget key's sessions that have not ended. */
  activeOfKey(tenantId: string, keyId: string): Promise<VoiceRecord[]>;
  /** The tenant's sessions that have not ended. @param caller only those of its widget keys; by default those of its console users too */
  activeOfTenant(tenantId: string, caller?: 'widget'): Promise<VoiceRecord[]>;
  /** @param after where the previous page of the same sort ended */
  list(filter: HistoryFilter, after: Position | undefined, limit: number, sort?: HistorySort): Promise<HistoryPage>;
  /** Stale sessions whose last activity was before a time, ordered by last activity. Of more than 10,000 stale ones some may be missing. */
  silentSince(
    filter: HistoryFilter,
    beforeMs: number,
    after: Position | undefined,
    limit: number,
  ): Promise<HistoryPage>;
  /** Sessions that end before a time unless words of their new visitors are heard, soonest first. Of more than 10,000 some may be missing. */
  wordsDueBefore(
    filter: HistoryFilter,
    beforeMs: number,
    after: Position | undefined,
    limit: number,
  ): Promise<HistoryPage>;
  /** The newest sessions of some subjects. */
  newestOf(subjects: readonly string[], limit: number): Promise<HistoryRow[]>;
  /** The newest sessions that the provider knows by this id. */
  ofUpstream(upstreamId: string, limit: number): Promise<HistoryRow[]>;
  /** How many sessions of each widget key have not ended; of all tenants or of some. */
  countOpenByKey(tenants: readonly string[] | undefined): Promise<KeyCount[]>;
  /** Counts the sessions that match a filter and have not ended. */
  countOpen(filter: HistoryFilter): Promise<OpenCounts>;
  /** How many sessions end soon; at most 10,000 of each kind are counted. */
  countEnding(filter: EndingFilter): Promise<number>;
  /**
   * Counts sessions that have not ended, and those that ended since `endedSinceMs`. Counts by caller and by tenant include live sessions only.
   * Counting live sessions costs the same however many there are.
   * @param tenants whose sessions count; by default all
   */
  counts(endedSinceMs: number, tenants?: readonly string[]): Promise<HistoryCounts>;
  /**
   * Compares the counts of live sessions with the sessions and corrects them: an older build may have written without counting.
   * @returns how many counts were wrong; undefined if another node is counting
   */
  recount(): Promise<number | undefined>;
}
