import type { EndReason, VoiceRecord, VoiceState } from '../../../machines/voice-session/types.ts';
import type { CallTicket } from '../call-tickets/contract.ts';
import type { SessionSetup } from '../session-setups/contract.ts';

export interface HistoryFilter {
  /** One of these states. */
  readonly states?: readonly VoiceState[] | undefined;
  /** Ended for one of these reasons. */
  readonly reasons?: readonly EndReason[] | undefined;
  readonly tenantId?: string | undefined;
  /** One of these tenants, where they are named. */
  readonly tenants?: readonly string[] | undefined;
  readonly keyId?: string | undefined;
  readonly agentId?: string | undefined;
  readonly caller?: VoiceRecord['caller'] | undefined;
  readonly subject?: string | undefined;
  /** Started at this time or later. */
  readonly fromMs?: number | undefined;
  /** Started before this time. */
  readonly toMs?: number | undefined;
  /** The beginning of the ids: of more than 10,000 that begin so any 10,000 are looked at. */
  readonly idPrefix?: string | undefined;
}

/** In which order a list is: the newest first, the oldest first, or those that have ended, the last end first. */
export const HISTORY_SORTS = ['-startedAt', 'startedAt', '-endedAt'] as const;

export type HistorySort = (typeof HISTORY_SORTS)[number];

/** Where a page ends: the time that it is sorted by, and the id of its last session, or what sorts before or after all ids. */
export interface Position {
  readonly atMs: number;
  readonly id: string;
}

/** A record with the state that held when it was saved. */
export interface HistoryRow {
  readonly record: VoiceRecord;
  readonly state: VoiceState;
}

/** A session that is opened, and what is kept of it with its record: all of it or nothing. */
export interface OpenedSession extends HistoryRow {
  readonly setup?: SessionSetup | undefined;
  /** Of a brokered session: whoever brings it may open the first call. */
  readonly ticket?: CallTicket | undefined;
}

export interface HistoryPage {
  readonly rows: readonly HistoryRow[];
  /** The next page begins after it; undefined on the last page. */
  readonly next: Position | undefined;
  /** Whether it is short because enough was looked through, up to `next`. */
  readonly isPartial: boolean;
}

export interface HistoryCounts {
  readonly byState: Readonly<Record<VoiceState, number>>;
  readonly byCaller: Readonly<Record<VoiceRecord['caller'], number>>;
  readonly byTenant: Readonly<Record<string, number>>;
}

/** Sessions that end by the clock up to some instant. */
export interface EndingFilter {
  /** Engaged ones that began then or earlier. */
  readonly engagedSinceMs: number;
  /** Stale ones whose last activity was then or earlier. */
  readonly staleSinceMs: number;
  /** Engaged ones that began later, and for which words of a new visitor are due by then. */
  readonly wordsDueByMs: number;
  /** One of these tenants, where they are named. */
  readonly tenants?: readonly string[] | undefined;
}

export interface KeyCount {
  readonly tenantId: string;
  readonly keyId: string;
  readonly sessions: number;
}

/** How many sessions that have not ended a filter fits. */
export interface OpenCounts {
  readonly matched: number;
  readonly byState: Readonly<Record<Exclude<VoiceState, 'ended'>, number>>;
  readonly byTenant: Readonly<Record<string, number>>;
}

/** What a save tells of the sessions that it changed. */
export interface SaveOutcome {
  /** The ids of the sessions that this call ended: each session is in one such answer only. */
  readonly ended: readonly string[];
}

/** What must never be lost of voice sessions; every method is @throws Unavailable when the database is away. */
export interface VoiceHistory {
  /** Written before the create is answered. Inserting an id twice changes nothing. */
  insert(opened: OpenedSession): Promise<void>;
  find(id: string): Promise<VoiceRecord | undefined>;
  /**
   * Saves newer versions in one statement. An end is saved whatever its version, because ended wins over all; other older versions,
   * and any change of an ended session, are ignored.
   */
  save(rows: readonly HistoryRow[]): Promise<SaveOutcome>;
  /** Keeps what the visitor says of a session, in the place of what they said before. */
  rate(id: string, rating: number): Promise<void>;
  /** What visitors said of those of the sessions that were rated. */
  ratingsOf(ids: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Sessions that have not ended, in the order of their ids, after `afterId`. */
  active(afterId: string, limit: number): Promise<VoiceRecord[]>;
  /** Those of the sessions that have ended. */
  endedAmong(ids: readonly string[]): Promise<VoiceRecord[]>;
  /** Sessions that ended at `sinceMs` or later, the latest first. */
  endedSince(sinceMs: number, limit: number): Promise<VoiceRecord[]>;
  /** The subject's sessions that have not ended. */
  activeOf(subject: string): Promise<VoiceRecord[]>;
  /** The widget key's sessions that have not ended. */
  activeOfKey(tenantId: string, keyId: string): Promise<VoiceRecord[]>;
  /** Those of a tenant. @param caller of its widget keys alone; by default those of its console users too */
  activeOfTenant(tenantId: string, caller?: 'widget'): Promise<VoiceRecord[]>;
  /** @param after where an earlier page of the same sort ended */
  list(filter: HistoryFilter, after: Position | undefined, limit: number, sort?: HistorySort): Promise<HistoryPage>;
  /** Stale sessions whose last activity was before a time, in the order of that: of more than 10,000 stale ones some may be missing. */
  silentSince(
    filter: HistoryFilter,
    beforeMs: number,
    after: Position | undefined,
    limit: number,
  ): Promise<HistoryPage>;
  /** Sessions that end before a time unless words of their new visitors are heard, in that order: of more than 10,000 some may be missing. */
  wordsDueBefore(
    filter: HistoryFilter,
    beforeMs: number,
    after: Position | undefined,
    limit: number,
  ): Promise<HistoryPage>;
  /** The newest sessions of some subjects. */
  newestOf(subjects: readonly string[], limit: number): Promise<HistoryRow[]>;
  /** The newest sessions that the provider names so. */
  ofUpstream(upstreamId: string, limit: number): Promise<HistoryRow[]>;
  /** How many sessions of each widget key have not ended, of all tenants or of some. */
  countOpenByKey(tenants: readonly string[] | undefined): Promise<KeyCount[]>;
  /** Counts the sessions that a filter fits and that have not ended. */
  countOpen(filter: HistoryFilter): Promise<OpenCounts>;
  /** How many sessions end soon; of either kind at most 10,000 are counted. */
  countEnding(filter: EndingFilter): Promise<number>;
  /**
   * Counts of sessions that have not ended, and of those that ended since `endedSinceMs`. Callers and tenants count live sessions only.
   * Live sessions cost the same to count however many there are.
   * @param tenants whose sessions count; by default all
   */
  counts(endedSinceMs: number, tenants?: readonly string[]): Promise<HistoryCounts>;
  /**
   * Compares the counts of live sessions with the sessions, and mends them: an older build may have written without counting.
   * @returns how many counts were wrong; undefined when another node is at it
   */
  recount(): Promise<number | undefined>;
}
