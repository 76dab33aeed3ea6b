export type AuthState = 'active' | 'destroyed';

export type DestroyReason = 'logout' | 'expired' | 'violation' | 'revoked' | 'replaced';

/** One login of a console user. Times are milliseconds since the Unix epoch. Only the machine makes one, by its OPEN event. */
export interface AuthRecord {
  /** Prefix auth_. */
  readonly id: string;
  readonly email: string;
  readonly createdAtMs: number;
  /** When the cookie was last renewed. */
  readonly renewedAtMs: number;
  readonly expiresAtMs: number;
  readonly destroyedAtMs: number | null;
  readonly destroyReason: DestroyReason | null;
  readonly version: number;
}

export interface AuthLimits {
  /** Sliding: a login lives this long after its last renewal. */
  readonly expiryHours: number;
  /** Absolute limit on a login's life; 0 means none. */
  readonly absoluteHours: number;
}

/** Every event carries its time: machines have no clock of their own. */
export type AuthEvent = (
  | { readonly type: 'OPEN'; readonly at: number; readonly id: string; readonly email: string }
  | { readonly type: 'ACTIVITY'; readonly at: number }
  | { readonly type: 'DESTROY'; readonly at: number; readonly reason: Exclude<DestroyReason, 'expired'> }
  | { readonly type: 'CLOCK'; readonly at: number }
) &
  WithRequestId;

/** The request that caused the event, for the trace. */
interface WithRequestId {
  readonly requestId?: string | undefined;
}

export type AuthFact =
  | { readonly type: 'login.renewed' }
  | { readonly type: 'login.destroyed'; readonly reason: DestroyReason };
