import type { ChallengeRecord } from '../../../machines/otp-challenge/types.ts';
import type { AuthRecord } from '../../../machines/auth-session/types.ts';
import type { RecordStore } from '../../actors/record-store.ts';

/** OTP challenges. @throws Unavailable when the database is away. */
export interface Challenges extends RecordStore<ChallengeRecord> {
  load(id: string): Promise<ChallengeRecord | undefined>;
  save(record: ChallengeRecord, expectedVersion: number): Promise<boolean>;
  /** Saves a challenge whose code was right and inserts the login that it opens: both, or neither. */
  redeem(record: ChallengeRecord, expectedVersion: number, login: AuthRecord): Promise<boolean>;
  insert(record: ChallengeRecord): Promise<void>;
  /** The subject's newest challenge, whatever its state. */
  newest(subject: string): Promise<ChallengeRecord | undefined>;
}
