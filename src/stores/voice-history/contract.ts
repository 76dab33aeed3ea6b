import type { VoiceRecord, VoiceState } from '../../../machines/voice-session/types.ts';

export interface HistoryFilter {
  readonly state?: VoiceState | undefined;
  readonly tenantId?: string | undefined;
  /** One of these tenants, where they are named. */
  readonly tenants?: readonly string[] | undefined;
  readonly agentId?: string | undefined;
  readonly caller?: VoiceRecord['caller'] | undefined;
  /** The beginning of the ids. */
  readonly idPrefix?: string | undefined;
}

/** A record with the state that held when it was saved. */
export interface HistoryRow {
  readonly record: VoiceRecord;
  readonly state: VoiceState;
}

export interface HistoryPage {
  readonly rows: readonly HistoryRow[];
  /** Undefined on the last page. */
  readonly nextCursor: string | undefined;
}

export interface HistoryCounts {
  readonly byState: Readonly<Record<VoiceState, number>>;
  readonly byCaller: Readonly<Record<VoiceRecord['caller'], number>>;
  readonly byTenant: Readonly<Record<string, number>>;
}

/** What must never be lost of voice sessions; every method is @throws Unavailable when the database is away. */
export interface VoiceHistory {
  /** Written before the create is answered. Inserting an id twice changes nothing. */
  insert(row: HistoryRow): Promise<void>;
  find(id: string): Promise<VoiceRecord | undefined>;
  /**
   * Saves newer versions in one statement. An end is saved whatever its version, because ended wins over all; other older versions,
   * and any change of an ended session, are ignored.
   * @returns the ids of the sessions that this call ended: each session is in one such answer only.
   */
  save(rows: readonly HistoryRow[]): Promise<string[]>;
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
  /** Newest first. `cursor` comes from an earlier page; an unreadable one answers undefined. */
  list(filter: HistoryFilter, cursor: string | undefined, limit: number): Promise<HistoryPage | undefined>;
  /** Counts of sessions that have not ended, and of those that ended since `endedSinceMs`. Callers and tenants count live sessions only. */
  counts(endedSinceMs: number): Promise<HistoryCounts>;
}
