import type { CallLimits, CallRecord } from '../../machines/voice-call/types.ts';
import type { Trace } from '../actors/trace.ts';
import type { NodeLease } from '../node/lease.ts';
import type { Bus } from '../stores/bus/contract.ts';
import type { SessionSetups } from '../stores/session-setups/contract.ts';
import type { LiveNodes, VoiceCalls as CallStore } from '../stores/voice-calls/contract.ts';
import type { Events } from '../telemetry/events.ts';
import type { EndingProvider } from '../upstream/contract.ts';
import type { CallSessions } from './contract.ts';
import type { HeldCallDeps } from './held-call-deps.ts';
import type { OpenCallDeps } from './open-call.ts';
import type { SealedRecaps } from './sealed-recaps.ts';

export interface VoiceCallsOptions
  extends
    Pick<OpenCallDeps, 'voiceLimits' | 'createTimeoutMs' | 'readyMs' | 'perSession'>,
    Pick<HeldCallDeps, 'maxOpenResponses'> {
  readonly limits: CallLimits;
}

export interface VoiceCallsDeps extends Pick<HeldCallDeps, 'metering' | 'budgets' | 'clock' | 'pause' | 'serverTools'> {
  /** The lease of this process, as the owner of calls. */
  readonly lease: NodeLease;
  /** Opens new calls. */
  readonly provider: EndingProvider;
  /** The same provider with other credentials: these hear and end the calls that were opened with them. */
  readonly others?: readonly EndingProvider[] | undefined;
  readonly installationKey: Buffer;
  readonly recaps: SealedRecaps;
  readonly store: CallStore;
  readonly nodes: Pick<LiveNodes, 'hasOther'>;
  readonly setups: Pick<SessionSetups, 'find'>;
  readonly sessions: CallSessions;
  readonly bus: Pick<Bus, 'publish' | 'subscribe' | 'followed'>;
  readonly events: Events;
  readonly trace?: Trace<CallRecord> | undefined;
  /** Hears of faults that cannot be reported to any caller. */
  readonly onError: (error: unknown) => void;
  readonly random?: () => number;
  readonly after?: HeldCallDeps['after'];
}
