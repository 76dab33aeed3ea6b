import type { AuthRecord } from '../../../machines/auth-session/types.ts';
import type { RecordStore } from '../../actors/record-store.ts';

/** Console logins: a cookie is worth what its row says. @throws Unavailable when the database is away. */
export interface Logins extends RecordStore<AuthRecord> {
  load(id: string): Promise<AuthRecord | undefined>;
  save(record: AuthRecord, expectedVersion: number): Promise<boolean>;
  insert(record: AuthRecord): Promise<void>;
}
