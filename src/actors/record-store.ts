import type { Eventually } from '../kernel/eventually.ts';

/** What the host asks of a record: an id, and a version that grows with every change. */
export interface HostedRecord {
  readonly id: string;
  readonly version: number;
}

/** Where the host finds and keeps records: compare-and-save is all that several nodes need to agree. */
export interface RecordStore<R extends HostedRecord> {
  /** The present record, or undefined when the id is unknown. */
  load(id: string): Eventually<R | undefined>;
  /**
   * The record as this process saw it last, at once; undefined when it saw none. It may be out of date, which compare-and-save finds
   * out: good for a change that is saved, never for an answer by itself.
   */
  recall?(id: string): R | undefined;
  /** Saves when the stored version is still `expectedVersion`; false says that somebody else was first. */
  save(record: R, expectedVersion: number): Eventually<boolean>;
}
