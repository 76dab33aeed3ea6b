import type { CallLimits, CallRecord } from '../../machines/voice-call/types.ts';
import type { VoiceLimits } from '../../machines/voice-session/types.ts';
import type { Trace } from '../actors/trace.ts';
import type { Clock } from '../kernel/clock.ts';
import type { NodeLease } from '../node/lease.ts';
import type { Budgets, Metering } from '../metering/contract.ts';
import type { Bus } from '../stores/bus/contract.ts';
import type { SessionSetups } from '../stores/session-setups/contract.ts';
import type { LiveNodes, VoiceCalls as CallStore } from '../stores/voice-calls/contract.ts';
import type { Events } from '../telemetry/events.ts';
import type { BrokeredProvider } from '../upstream/contract.ts';
import type { CallSessions } from './contract.ts';
import type { RetryOptions } from './dial-with-retries.ts';

export interface VoiceCallsOptions {
  readonly limits: CallLimits;
  readonly voiceLimits: VoiceLimits;
  /** Milliseconds for the provider to answer an offer. */
  readonly createTimeoutMs: number;
  readonly readyMs: number;
  readonly perSession: number;
  readonly maxOpenResponses: number;
}

export interface VoiceCallsDeps {
  /** Of this process, as the owner of calls. */
  readonly lease: NodeLease;
  /** That opens new calls. */
  readonly provider: BrokeredProvider;
  /** The same provider with other credentials, which hear and end the calls that were opened with them. */
  readonly others?: readonly BrokeredProvider[] | undefined;
  readonly installationKey: Buffer;
  readonly store: CallStore;
  readonly nodes: Pick<LiveNodes, 'hasOther'>;
  readonly setups: Pick<SessionSetups, 'find'>;
  readonly sessions: CallSessions;
  readonly metering: Metering;
  readonly budgets: Budgets;
  readonly bus: Pick<Bus, 'publish' | 'subscribe'>;
  /** The time that all nodes share. */
  readonly clock: Clock;
  readonly events: Events;
  readonly trace?: Trace<CallRecord> | undefined;
  /** Hears of faults that no caller can be told of. */
  readonly onError: (error: unknown) => void;
  /** How time passes while a provider asks to wait. */
  readonly pause?: RetryOptions['pause'];
  /** From 0 to 1. */
  readonly random?: () => number;
}
