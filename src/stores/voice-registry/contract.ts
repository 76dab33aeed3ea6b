import type { VoiceRecord } from '../../../machines/voice-session/types.ts';
import type { RecordStore } from '../../actors/host.ts';
import type { Eventually } from '../../kernel/eventually.ts';
import type { UncountedRequest } from '../windows/contract.ts';

/** When the sweep must look at a record again, in milliseconds since the Unix epoch. */
export type DueAt = (record: VoiceRecord) => number;

/** What became of a request that was counted together with a save. */
export interface CountedSave {
  /** How many its window has counted, with it. */
  readonly taken: number;
  readonly isSaved: boolean;
}

/**
 * Which parts of what all nodes share one node looks at in a sweep: engines have parts that are numbered from 0, or are one part that whoever
 * asks looks at. Without it all are meant.
 */
export type Share = (part: number) => boolean;

/**
 * The live registry: the records of sessions that are under way, shared by every node and rebuildable from the history.
 * Engines are made with a `DueAt`, so that they index deadlines without knowing the rules.
 */
export interface VoiceRegistry extends RecordStore<VoiceRecord> {
  recall(id: string): VoiceRecord | undefined;
  /**
   * A save that succeeds keeps `slotUntilMs` with the record, and whoever counts the subject's slots finds the lease there; without it this
   * session's saves lease none.
   */
  save(record: VoiceRecord, expectedVersion: number, slotUntilMs?: number): Eventually<boolean>;
  /**
   * Counts a request and, where its window lets it through, saves a change that moves the deadline later or not at all: in one step.
   * Undefined, or not there, where this process does not know enough for that, and nothing is counted then.
   */
  saveCounted?(
    record: VoiceRecord,
    expectedVersion: number,
    slotUntilMs: number | undefined,
    request: UncountedRequest,
  ): Promise<CountedSave> | undefined;
  /**
   * Whether what it holds of a session may be older than what was saved there: it came back with less than it had, and was not restored
   * since.
   */
  mayBeOld(id: string): Eventually<boolean>;
  /** Registers a record unless one with its id is there already; false says that it was. */
  insert(record: VoiceRecord): Eventually<boolean>;
  /** Forgets a record; the history keeps it. */
  remove(id: string): Eventually<void>;
  /**
   * Ids of records that are due at `atMs`, at most `limit`; each is claimed for `leaseMs`, so that no other sweep gets it meanwhile.
   * A save of the record ends the claim: what was due is done, and the record is due when its `DueAt` says next.
   * @param share of which parts
   */
  claimDue(atMs: number, limit: number, leaseMs: number, share?: Share): Eventually<string[]>;
  /** Says of a record that was claimed that it need not be looked at before this time. */
  postpone(id: string, untilMs: number): Eventually<void>;
  /** Ids of the subject's sessions that have not ended. */
  ofSubject(subject: string): Eventually<string[]>;
  /** Ids of a widget key's sessions that have not ended. */
  ofKey(tenantId: string, keyId: string): Eventually<string[]>;
  /** How many records are held. */
  size(): Eventually<number>;
}
