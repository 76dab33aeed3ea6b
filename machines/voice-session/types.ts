import type { EndReason, RequestedEnd } from './end-reasons.ts';

export type { EndReason, RequestedEnd } from './end-reasons.ts';

/** The states as stores and clients name them; the machine nests them, see `stateValue`. */
export type VoiceState = 'engaged' | 'idle' | 'stale' | 'ended';

/** What a session is opened with, and what never changes of it. */
export interface VoiceTerms {
  /** sm_session_id: `s:<subject>:<session_id>`. */
  readonly id: string;
  /** The email_hash that usage, rates and concurrency are counted for. */
  readonly subject: string;
  readonly caller: 'widget' | 'console';
  readonly tenantId: string;
  readonly agentId: string | null;
  /** The widget key entry's id; null for console callers. */
  readonly keyId: string | null;
  /** Whether an e-mail address names the subject, so that heartbeats must prove it. */
  readonly named: boolean;
  /** The login that opened the session; null for widget callers. */
  readonly loginId: string | null;
  readonly provider: string;
  /** The provider's own session id. */
  readonly upstreamId: string;
  /** Whether Switchboard hears its calls itself, and so knows what they use. */
  readonly isHeard: boolean;
}

/**
 * The truth of one voice session: what every store keeps (docs/architecture.md, section 3). Times are milliseconds since the Unix epoch.
 * Only the machine makes one, by its OPEN event.
 */
export interface VoiceRecord extends VoiceTerms {
  readonly startedAtMs: number;
  /** The last heartbeat. */
  readonly lastSeenAtMs: number;
  readonly lastActivityAtMs: number;
  /** Until then a call of it is heard: what is heard there is activity, and what its client says is none. 0 when none ever was. */
  readonly heardUntilMs: number;
  /**
   * Of a new visitor (docs/contract.md, section 4.5): the session ends then unless words of the visitor were heard before. 0 once some were,
   * and of everybody else.
   */
  readonly wordsDueAtMs: number;
  /** The instant up to which the machine has followed the clock: its state is `savedState(record, limits)`. */
  readonly settledAtMs: number;
  readonly endedAtMs: number | null;
  readonly endReason: EndReason | null;
  /** Grows by one with every change; stores compare it before they save. */
  readonly version: number;
}

/** Limits of a session (docs/contract.md, section 10.3). */
export interface VoiceLimits {
  readonly maxMinutes: number;
  readonly maxIdleSec: number;
  readonly staleGraceSec: number;
  readonly staleReapSec: number;
}

/** Every event carries its time: machines have no clock of their own. */
export type VoiceEvent =
  /** `wordsWithinSec`: of a new visitor, who is to say something by then. */
  (
    | {
        readonly type: 'OPEN';
        readonly at: number;
        readonly terms: VoiceTerms;
        readonly wordsWithinSec?: number | undefined;
      }
    /** `idleSec`: how long nobody has spoken, as the client knows it. */
    | { readonly type: 'HEARTBEAT'; readonly at: number; readonly idleSec?: number | undefined }
    /** Activity that is no heartbeat: a usage report. */
    | { readonly type: 'ACTIVITY'; readonly at: number }
    /** A call of it is heard, until `untilMs` at least; it is over when that is now. */
    | { readonly type: 'HEARD'; readonly at: number; readonly untilMs: number }
    /** Words of its visitor were heard: they spoke, or wrote something. */
    | { readonly type: 'SPOKE'; readonly at: number }
    | { readonly type: 'END'; readonly at: number; readonly reason: RequestedEnd }
    | { readonly type: 'CLOCK'; readonly at: number }
  ) &
    WithRequestId;

/** Which request an event came by, for the trace. */
interface WithRequestId {
  readonly requestId?: string | undefined;
}

export type VoiceFact =
  | { readonly type: 'session.idle' }
  | { readonly type: 'session.stale' }
  | { readonly type: 'session.ended'; readonly reason: EndReason };
