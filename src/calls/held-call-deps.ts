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

/** What a held call is made of: the same for all of a node. */
export interface HeldCallDeps extends ListenerDeps, Pick<ToolRunnerDeps, 'serverTools'> {
  /** Who can be asked for the call; undefined where nobody here has its credential. */
  readonly provider: EndingProvider | undefined;
  readonly host: Host<CallRecord, CallEvent, CallFact>;
  readonly steps: HeldCallSteps;
  readonly hangUps: HangUps;
  readonly metering: Metering;
  readonly recaps: Pick<SealedRecaps, 'keep' | 'find'>;
  readonly budgets: Budgets;
  readonly installationKey: Buffer;
  readonly sessions: Pick<CallSessions, 'noteActivity' | 'noteSpoke' | 'find'>;
  /** Hears of faults that no caller can be told of. */
  readonly onError: (error: unknown) => void;
  readonly events: ListenerDeps['events'] &
    Pick<Events, 'faulted' | 'hangupConfirmed' | 'dependencyAway' | 'toolCalled' | 'toolForged'>;
  /** Whether this node may hold calls. */
  readonly mayHear: () => boolean;
  /** Milliseconds that an attachment may take. */
  readonly readyMs: number;
  /** Responses that may run at once (MAX_OPEN_RESPONSES). */
  readonly maxOpenResponses: number;
  /** How time passes while a provider asks to wait. */
  readonly pause?: RetryOptions['pause'];
  readonly random: () => number;
  /** Calls back once so many milliseconds have passed, unless it is called off. */
  readonly after: (ms: number, act: () => void) => () => void;
}
