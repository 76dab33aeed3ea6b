import type { HeldCallCommand, HeldCallContext, HeldCallEvent } from '../../machines/held-call/types.ts';
import type { CallEvent, CallFact, CallLimits, CallRecord } from '../../machines/voice-call/types.ts';
import type { VoiceLimits } from '../../machines/voice-session/types.ts';
import type { Host } from '../actors/host.ts';
import type { Steps } from '../actors/steps.ts';
import type { Trace } from '../actors/trace.ts';
import type { BackgroundTasks } from '../kernel/async.ts';
import type { Clock } from '../kernel/time.ts';
import type { RemainingBudgets, Metering } from '../metering/contract.ts';
import type { NodeLease } from '../node/lease.ts';
import type { Bus } from '../stores/bus/contract.ts';
import type { Holds } from '../stores/holds/contract.ts';
import type { SessionSetups } from '../stores/session-setups/contract.ts';
import type { LiveNodes } from '../stores/nodes/contract.ts';
import type { VoiceCalls as CallStore } from '../stores/voice-calls/contract.ts';
import type { Events } from '../telemetry/events.ts';
import type { EndingProvider } from '../upstream/contract.ts';
import type { ProviderAccounts, HangUps } from './hang-ups.ts';
import type { CallSessions } from './contract.ts';
import type { ResumeTokens } from './resume-tokens.ts';
import type { SealedRecaps } from './pages/context-carryover.ts';
import type { ServerToolParts } from './tools/tool-sender.ts';

/** What the calls of a node are built on. */
export interface VoiceCallsDeps {
  readonly limits: CallLimits;
  readonly voiceLimits: VoiceLimits;
  /** Milliseconds for the provider to answer an offer. */
  readonly createTimeoutMs: number;
  /** Milliseconds that attaching to a call may take. */
  readonly readyMs: number;
  /** Calls that one session may open. */
  readonly perSession: number;
  /** Responses of a call that may run at once (MAX_OPEN_RESPONSES). */
  readonly maxOpenResponses: number;
  /** The lease of this process, as the owner of calls. */
  readonly lease: NodeLease;
  /** Opens new calls; these and earlier ones of the same account are heard and ended with it. */
  readonly provider: EndingProvider;
  /** The same provider with other credentials: these hear and end the calls that were opened with them. */
  readonly others?: readonly EndingProvider[] | undefined;
  readonly installationKey: Buffer;
  readonly recaps: SealedRecaps;
  readonly store: CallStore;
  readonly nodes: Pick<LiveNodes, 'hasOther'>;
  readonly setups: Pick<SessionSetups, 'find'>;
  readonly sessions: CallSessions;
  readonly resumeTokens: Pick<ResumeTokens, 'nextPageOf'>;
  readonly holds: Pick<Holds, 'releaseWaiting'>;
  readonly serverTools: ServerToolParts;
  readonly metering: Metering;
  readonly budgets: RemainingBudgets;
  readonly bus: Pick<Bus, 'publish' | 'subscribe' | 'followed'>;
  readonly clock: Clock;
  readonly events: Events;
  readonly trace?: Trace<CallRecord> | undefined;
  /** Hears of faults that cannot be reported to any caller. */
  readonly onError: (error: unknown) => void;
  /** Waits when a provider asks for a pause, but no longer than until the signal aborts. */
  readonly pause?: ((ms: number, signal: AbortSignal) => Promise<unknown>) | undefined;
  readonly random?: () => number;
  /** Calls `act` once `ms` milliseconds have passed, unless the returned function cancels it. */
  readonly after?: (ms: number, act: () => void) => () => void;
}

/** What the calls of a node share. */
export interface CallDeps extends VoiceCallsDeps {
  readonly random: NonNullable<VoiceCallsDeps['random']>;
  readonly after: NonNullable<VoiceCallsDeps['after']>;
  readonly accounts: ProviderAccounts;
  readonly running: BackgroundTasks;
  readonly hangUps: HangUps;
  readonly host: Host<CallRecord, CallEvent, CallFact>;
  readonly steps: Steps<HeldCallContext, HeldCallEvent, HeldCallCommand>;
}

/** What a held call is built from. */
export interface HeldCallDeps extends Omit<CallDeps, 'provider'> {
  /** The provider to ask about the call; undefined where this service has no credential for it. */
  readonly provider: EndingProvider | undefined;
}
