import type { CloseReason, CloseRequest } from './close-reasons.ts';

export type { CloseReason, CloseRequest } from './close-reasons.ts';

export type CallState = 'creating' | 'open' | 'closing' | 'closed';

/**
 * What is known of the hang-up at the provider:
 * - `none`: not asked for
 * - `asked`: the provider has begun it
 * - `confirmed`: the provider has begun it when it was asked, and the call is over
 * - `already_over`: whenever the provider was asked, it knew the call no more
 * - `unconfirmed`: given up, because the provider itself has ended the call by now; of a call that is not closed: nobody here has the
 *   credential to ask for it
 */
export type Hangup = 'none' | 'asked' | 'confirmed' | 'already_over' | 'unconfirmed';

/** What a call is created with, and what never changes of it. */
export interface CallTerms {
  /** Names the call to everybody but the provider, as `ref`: `call_` and 22 characters. */
  readonly id: string;
  readonly sessionId: string;
  readonly subject: string;
  readonly tenantId: string;
  readonly keyId: string | null;
  /** The provider's name. */
  readonly provider: string;
  /** Of the provider, its address and the credential that the call was created with, a keyed hash; null for calls of before. */
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
  /** Since when it is to be hung up; null for one that nobody closes, or that a version without this field began to close. */
  readonly closingAtMs: number | null;
  readonly closedAtMs: number | null;
  /** Why it is closing or closed. */
  readonly closeReason: CloseReason | null;
  readonly hangup: Hangup;
  /** How often the provider was asked to hang up. */
  readonly hangupTries: number;
  /**
   * Since when the provider's answers say that the call is over, and nothing that was heard of it says otherwise; null where they do not.
   * Of a call that its page may open again: from when on it may not, which may be still to come.
   */
  readonly overAtMs: number | null;
  /** Where the provider said so first: as a sideband was dialled or by itself on one, or as it was asked to hang up. */
  readonly overDoor: Door | null;
  /** When the provider is to be asked next; null where nothing is to be asked. */
  readonly nextTryAtMs: number | null;
  /** Since when nobody hears the call's events, though somebody should; of a call that is closing, until its hang-up is asked. */
  readonly unheardSinceMs: number | null;
  /**
   * Until when is waited for the provider's answer while the call is created, for somebody who hears it while it is open and nobody does,
   * and for its hang-up while it is closing; null where nothing is waited for.
   */
  readonly giveUpAtMs: number | null;
  /** When the provider itself has ended the call at the latest; null until it is created. */
  readonly providerEndsAtMs: number | null;
  /** When the session ends for how the call closes, unless another call follows one that was lost; null where it goes on, or was ended. */
  readonly graceUntilMs: number | null;
  /** The node that holds the call. */
  readonly ownerNode: string;
  /** Grows with each node that takes the call over. */
  readonly fence: number;
  /** Grows by one with every change; stores compare it before they save. */
  readonly version: number;
}

export interface CallLimits {
  /** CALL_GRACE_SEC. */
  readonly graceSec: number;
  /** SIDEBAND_LOST_SEC; 0 is as long as its session. */
  readonly unheardSec: number;
  /**
   * Of calls that pages open: seconds for which a page may open its call again after it was hung up, so that it is hung up again as long;
   * undefined of calls that we open.
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
  /** The provider has made the call, and ends it by itself at `providerEndsAtMs`. */
  | {
      readonly type: 'CREATED';
      readonly at: number;
      readonly providerCallId: string;
      readonly providerEndsAtMs: number;
    }
  /** The provider has made none. */
  | { readonly type: 'CREATE_FAILED'; readonly at: number }
  /** The call's events are heard, or nobody needs to hear them. */
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
      /** What the provider said where it was also dialled, because its first word came from a hang-up. */
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
  /** Something was said in a call of which the provider says that it is over. */
  | { readonly type: 'HEARD'; readonly at: number }
  /** Another node takes the call over, whose owner was last known to be alive at `unheardSinceMs`. `isForeign`: it cannot ask for the call. */
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

/** Which request an event came by, for the trace. */
interface WithRequestId {
  readonly requestId?: string | undefined;
}

export type CallFact =
  | { readonly type: 'call.opened' }
  | { readonly type: 'call.closing'; readonly reason: CloseReason }
  | { readonly type: 'call.closed'; readonly reason: CloseReason; readonly hangup: Hangup };
