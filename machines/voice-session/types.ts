import type { EndReason, RequestedEnd } from './end-reasons.ts';

export type { EndReason, RequestedEnd } from './end-reasons.ts';

/** The states as stores and clients name them; the machine nests them, see `stateValue`. */
export type VoiceState = 'engaged' | 'idle' | 'stale' | 'ended';

/** What a session is opened with; it never changes. */
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
  /** Whether Switchboard itself hears the session's calls, and so knows what they use. */
  readonly isHeard: boolean;
}

/**
 * The truth of one voice session, which every store keeps (docs/architecture.md, section 3). Times are milliseconds since the Unix epoch. Only the
 * machine makes one, by its OPEN event.
 */
export interface VoiceRecord extends VoiceTerms {
  readonly startedAtMs: number;
  /** The last heartbeat. */
  readonly lastSeenAtMs: number;
  readonly lastActivityAtMs: number;
  /** A call of the session is heard until then: what is heard there is activity, and what the client reports is not. 0 if none was ever heard. */
  readonly heardUntilMs: number;
  /**
   * For a new visitor (docs/contract.md, section 4.5): the session ends then, unless the visitor has spoken or written before. 0 once they have, and
   * for everybody else.
   */
  readonly wordsDueAtMs: number;
  /** The instant up to which the machine has followed the clock: its state is `savedState(record, limits)`. */
  readonly settledAtMs: number;
  readonly endedAtMs: number | null;
  readonly endReason: EndReason | null;
  /** Increases by one with every change; stores compare it before they save. */
  readonly version: number;
}

/**
 * Limits of a session (docs/contract.md, section 10.3); their values come from src/sessions/variables.ts. What follows from them, when a session goes
 * idle or stale and when it ends, is in selectors.ts.
 */
export interface VoiceLimits {
  readonly maxMinutes: number;
  readonly maxIdleSec: number;
  readonly staleGraceSec: number;
  readonly staleReapSec: number;
}

/** Every event carries its time: machines have no clock of their own. */
export type VoiceEvent =
  /** `wordsWithinSec`: for a new visitor, how soon they must say something. */
  (
    | {
        readonly type: 'OPEN';
        readonly at: number;
        readonly terms: VoiceTerms;
        readonly wordsWithinSec?: number | undefined;
      }
    /** `idleSec`: how long nobody has spoken, as far as the client knows. */
    | { readonly type: 'HEARTBEAT'; readonly at: number; readonly idleSec?: number | undefined }
    /** Activity other than a heartbeat: a usage report. */
    | { readonly type: 'ACTIVITY'; readonly at: number }
    /** A call of the session is heard, until `untilMs` at least; `untilMs` equal to `at` says that the call is over. */
    | { readonly type: 'HEARD'; readonly at: number; readonly untilMs: number }
    /** The visitor spoke, or wrote something. */
    | { readonly type: 'SPOKE'; readonly at: number }
    | { readonly type: 'END'; readonly at: number; readonly reason: RequestedEnd }
    | { readonly type: 'CLOCK'; readonly at: number }
  ) &
    WithRequestId;

/** The request that caused the event, for the trace. */
interface WithRequestId {
  readonly requestId?: string | undefined;
}

export type VoiceFact =
  | { readonly type: 'session.idle' }
  | { readonly type: 'session.stale' }
  | { readonly type: 'session.ended'; readonly reason: EndReason };
