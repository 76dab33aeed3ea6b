import type { CallEvent, CallFact, CallRecord } from '../../machines/voice-call/types.ts';
import type { Host } from '../actors/host.ts';
import type { Budgets, Metering } from '../metering/contract.ts';
import type { Events } from '../telemetry/events.ts';
import type { EndingProvider } from '../upstream/contract.ts';
import type { HangUps } from './hang-ups.ts';
import type { HeldCallSteps } from './held-call-state.ts';
import type { CallSessions } from './contract.ts';
import type { ListenerDeps } from './listener.ts';
import type { SealedRecaps } from './sealed-recaps.ts';
import type { ToolRunnerDeps } from './tools/tool-runner-deps.ts';
import type { RetryOptions } from './sideband-connection.ts';

/** What held calls are built from: the same for all calls of a node. */
export interface HeldCallDeps extends ListenerDeps, Pick<ToolRunnerDeps, 'serverTools'> {
  /** The provider to ask about the call; undefined where this service has no credential for it. */
  readonly provider: EndingProvider | undefined;
  readonly host: Host<CallRecord, CallEvent, CallFact>;
  readonly steps: HeldCallSteps;
  readonly hangUps: HangUps;
  readonly metering: Metering;
  readonly recaps: Pick<SealedRecaps, 'keep' | 'find'>;
  readonly budgets: Budgets;
  readonly installationKey: Buffer;
  readonly sessions: Pick<CallSessions, 'noteActivity' | 'noteSpoke' | 'find'>;
  /** Hears of faults that cannot be reported to any caller. */
  readonly onError: (error: unknown) => void;
  readonly events: ListenerDeps['events'] &
    Pick<Events, 'faulted' | 'hangupConfirmed' | 'dependencyAway' | 'toolCalled' | 'toolForged'>;
  /** Whether this node may hold calls. */
  readonly mayHear: () => boolean;
  /** Milliseconds that attaching to the call may take. */
  readonly readyMs: number;
  /** Responses that may run at once (MAX_OPEN_RESPONSES). */
  readonly maxOpenResponses: number;
  /** How to wait when a provider asks for a pause. */
  readonly pause?: RetryOptions['pause'];
  readonly random: () => number;
  /** Calls `act` once `ms` milliseconds have passed, unless the returned function cancels it. */
  readonly after: (ms: number, act: () => void) => () => void;
}
