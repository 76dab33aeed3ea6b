import type { ChallengeRecord } from '../../../machines/otp-challenge/types.ts';
import type { RecordStore } from '../../actors/record-store.ts';

/** OTP challenges. @throws Unavailable when the database is away. */
export interface Challenges extends RecordStore<ChallengeRecord> {
  load(id: string): Promise<ChallengeRecord | undefined>;
  save(record: ChallengeRecord, expectedVersion: number): Promise<boolean>;
  insert(record: ChallengeRecord): Promise<void>;
  /** The subject's newest challenge, whatever its state. */
  newest(subject: string): Promise<ChallengeRecord | undefined>;
  /** Deletes challenges that expired before a time. */
  purge(expiredBeforeMs: number): Promise<void>;
}
