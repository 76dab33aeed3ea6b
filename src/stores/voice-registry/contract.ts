import type { VoiceRecord } from '../../../machines/voice-session/types.ts';
import type { RecordStore } from '../../actors/host.ts';
import type { Eventually } from '../../kernel/async.ts';
import type { UncountedRequest } from '../windows/contract.ts';

/** When the sweep must look at a record again, in milliseconds since the Unix epoch. */
export type DueAt = (record: VoiceRecord) => number;

/** The outcome of a request that was counted together with a save. */
export interface CountedSave {
  /** How many requests its window has counted, including this one. */
  readonly taken: number;
  readonly isSaved: boolean;
}

/**
 * Which parts of the data that all nodes share one node examines in a sweep. An engine has parts numbered from 0, or is a single part that every node
 * examines. Without a share all parts are meant.
 */
export type Share = (part: number) => boolean;

/**
 * The live registry: the records of sessions that are under way, shared by every node and rebuildable from the history. Engines are created with a
 * `DueAt`, so that they index deadlines without knowing the rules.
 */
export interface VoiceRegistry extends RecordStore<VoiceRecord> {
  recall(id: string): VoiceRecord | undefined;
  /**
   * A successful save stores `slotUntilMs` with the record, where counts of the subject's slots find the lease; without it, this session's saves hold
   * no lease.
   */
  save(record: VoiceRecord, expectedVersion: number, slotUntilMs?: number): Eventually<boolean>;
  /**
   * In one step, counts a request and, if its window lets it through, saves a change that leaves the deadline or moves it later. Undefined, or
   * absent, if this process does not know enough for that; then nothing is counted.
   */
  saveCounted?(
    record: VoiceRecord,
    expectedVersion: number,
    slotUntilMs: number | undefined,
    request: UncountedRequest,
  ): Promise<CountedSave> | undefined;
  /**
   * Whether the stored record of a session may be older than what was saved: the store came back with less than it had, and was not restored since.
   */
  mayBeOld(id: string): Eventually<boolean>;
  /** Registers a record unless one with its id is registered already; false if there was one. */
  insert(record: VoiceRecord): Eventually<boolean>;
  /** Removes a record; the history keeps it. */
  remove(id: string): Eventually<void>;
  /**
   * Ids of records that are due at `atMs`, at most `limit`. Each is claimed for `leaseMs`, so that no other sweep gets it meanwhile. Saving the
   * record ends the claim: what was due is done, and the record is due again when its `DueAt` says.
   * @param share which parts
   */
  claimDue(atMs: number, limit: number, leaseMs: number, share?: Share): Eventually<string[]>;
  /** Notes that a claimed record need not be looked at before this time. */
  postpone(id: string, untilMs: number): Eventually<void>;
  /** Ids of the subject's sessions that have not ended. */
  ofSubject(subject: string): Eventually<string[]>;
  /** Ids of a widget key's sessions that have not ended. */
  ofKey(tenantId: string, keyId: string): Eventually<string[]>;
  /** How many records are held. */
  size(): Eventually<number>;
}
