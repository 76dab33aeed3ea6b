import type { CloseReason, CloseRequest } from './close-reasons.ts';

export type { CloseReason, CloseRequest } from './close-reasons.ts';

export type CallState = 'creating' | 'open' | 'closing' | 'closed';

/**
 * What is known about the hang-up at the provider:
 * - `none`: not asked for
 * - `asked`: the provider has begun it
 * - `confirmed`: the provider began it when it was asked, and the call is over
 * - `already_over`: whenever the provider was asked, it no longer knew the call
 * - `unconfirmed`: given up, because the provider itself must have ended the call by now; for a call that is not closed: this service has no
 * credential to ask for it
 */
export type Hangup = 'none' | 'asked' | 'confirmed' | 'already_over' | 'unconfirmed';

/** What a call is created with; it never changes. */
export interface CallTerms {
  /** Names the call to everybody but the provider, as `ref`: `call_` and 22 characters. */
  readonly id: string;
  readonly sessionId: string;
  readonly subject: string;
  readonly tenantId: string;
  readonly keyId: string | null;
  /** The provider's name. */
  readonly provider: string;
  /** A keyed hash of the provider, its address and the credential that the call was created with; null for old calls. */
  readonly fingerprint: string | null;
  readonly model: string;
}

/** Where a provider says that a call is over. */
export type Door = 'sideband' | 'hangup';

/** The truth of one call at a provider. Times are milliseconds since the Unix epoch. Only the machine makes one, by its CREATE event. */
export interface CallRecord extends CallTerms {
  readonly state: CallState;
  /** Never told to browsers. Null until the provider has answered. */
  readonly providerCallId: string | null;
  readonly createdAtMs: number;
  readonly openedAtMs: number | null;
  /** Since when it is to be hung up; null for a call that is not closing, or that a version without this field began to close. */
  readonly closingAtMs: number | null;
  readonly closedAtMs: number | null;
  /** Why it is closing or closed. */
  readonly closeReason: CloseReason | null;
  readonly hangup: Hangup;
  /** How often the provider was asked to hang up. */
  readonly hangupTries: number;
  /**
   * Since when the provider's answers say that the call is over, with nothing heard that says otherwise; null if they do not. For a call that its
   * page may open again: when it no longer may, which can be in the future.
   */
  readonly overAtMs: number | null;
  /** Where the provider said so first: on a sideband or while one was dialled, or when it was asked to hang up. */
  readonly overDoor: Door | null;
  /** When to ask the provider next; null if there is nothing to ask. */
  readonly nextTryAtMs: number | null;
  /** Since when nobody hears the call's events, though a node should; for a closing call, only until its hang-up is asked for. */
  readonly unheardSinceMs: number | null;
  /**
   * How long to wait: for the provider's answer while the call is created; for a node that hears it while it is open and unheard; for its hang-up
   * while it is closing. Null if there is nothing to wait for.
   */
  readonly giveUpAtMs: number | null;
  /** When the provider itself has ended the call at the latest; null until it is created. */
  readonly providerEndsAtMs: number | null;
  /**
   * When the session ends because of how the call closed, unless another call has followed a lost one by then, or is still awaited; null if it goes
   * on, or was ended already.
   */
  readonly graceUntilMs: number | null;
  /** When the agent said goodbye, in this call or an earlier one of the session; null if it has not. */
  readonly wrappedUpAtMs: number | null;
  /** The node that holds the call. */
  readonly ownerNode: string;
  /** Increases with each node that takes the call over. */
  readonly fence: number;
  /** Increases by one with every change; stores compare it before they save. */
  readonly version: number;
}

export interface CallLimits {
  /** CALL_GRACE_SEC. */
  readonly graceSec: number;
  /** SIDEBAND_LOST_SEC; 0 lets the call go on as long as its session. */
  readonly unheardSec: number;
  /**
   * For calls that pages open: seconds for which a page may open its call again after it was hung up, during which it is hung up again; undefined for
   * calls that we open.
   */
  readonly returnSec?: number | undefined;
}

/** Every event carries its time: machines have no clock of their own. */
export type CallEvent = (
  | {
      readonly type: 'CREATE';
      readonly at: number;
      readonly terms: CallTerms;
      readonly node: string;
      readonly giveUpAtMs: number;
    }
  /** The provider has created the call, and will end it by itself at `providerEndsAtMs`. */
  | {
      readonly type: 'CREATED';
      readonly at: number;
      readonly providerCallId: string;
      readonly providerEndsAtMs: number;
    }
  /** The provider has created no call. */
  | { readonly type: 'CREATE_FAILED'; readonly at: number }
  /** The call's events are heard, or need not be heard. */
  | { readonly type: 'READY'; readonly at: number }
  | { readonly type: 'SIDEBAND_LOST'; readonly at: number }
  | { readonly type: 'CLOSE'; readonly at: number; readonly reason: CloseRequest }
  | {
      readonly type: 'HANGUP_ANSWERED';
      readonly at: number;
      /** `failed`: no usable answer. */
      readonly answer: 'asked' | 'already_over' | 'failed';
      /** Whether the provider has closed the last sideband of the call. */
      readonly isLeft?: boolean;
      /** What the provider said when it was also dialled, because its first report came from a hang-up. */
      readonly dialled?: 'known' | 'unknown' | undefined;
    }
  /** The provider says over a sideband that the call is over. */
  | {
      readonly type: 'OVER';
      readonly at: number;
      readonly reason: 'expired' | 'remote' | 'content' | 'lost';
      /** Whether the provider has closed the last sideband of the call. */
      readonly isLeft?: boolean;
    }
  /** The page has left, and until `untilMs` the next one may still open a call of the session. */
  | { readonly type: 'AWAITED'; readonly at: number; readonly untilMs: number }
  /** The agent was asked to say goodbye, now or at `at` in an earlier call of the session. */
  | { readonly type: 'WRAPPED_UP'; readonly at: number }
  /** Something was heard in a call that the provider says is over. */
  | { readonly type: 'HEARD'; readonly at: number }
  /**
   * Another node takes the call over; its owner was last known to be alive at `unheardSinceMs`. `isForeign`: the new owner has no credential to ask
   * for the call.
   */
  | {
      readonly type: 'TAKEN';
      readonly at: number;
      readonly node: string;
      readonly unheardSinceMs: number;
      readonly isForeign?: boolean;
    }
  | { readonly type: 'CLOCK'; readonly at: number }
) &
  WithRequestId;

/** The request that caused the event, for the trace. */
interface WithRequestId {
  readonly requestId?: string | undefined;
}

export type CallFact =
  | { readonly type: 'call.opened' }
  | { readonly type: 'call.closing'; readonly reason: CloseReason }
  | { readonly type: 'call.closed'; readonly reason: CloseReason; readonly hangup: Hangup };
