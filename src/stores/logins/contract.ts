import type { AuthRecord, AuthState } from '../../../machines/auth-session/types.ts';
import type { RecordStore } from '../../actors/host.ts';
import type { Promised } from '../../kernel/async.ts';
import type { Position } from '../voice-history/contract.ts';

export interface LoginPage {
  readonly logins: readonly AuthRecord[];
  /** Undefined on the last page. */
  readonly next: Position | undefined;
  /** Whether the page is short because enough rows were scanned. */
  readonly isPartial: boolean;
}

/** Console logins: a cookie is worth what its row says. @throws Unavailable when the database is away. */
export interface Logins extends Promised<RecordStore<AuthRecord>> {
  insert(record: AuthRecord): Promise<void>;
  /** The newest logins of an e-mail address; only those active at `activeAtMs` if it is given. */
  ofEmail(email: string, limit: number, activeAtMs?: number): Promise<AuthRecord[]>;
  /** Logins in a state at a time, or all, newest first. */
  list(state: AuthState | undefined, atMs: number, after: Position | undefined, limit: number): Promise<LoginPage>;
}
