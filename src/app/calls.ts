import type { CallRecord } from '../../machines/voice-call/types.ts';
import type { Trace } from '../actors/trace.ts';
import type { Config } from '../../config/config.ts';
import type { VoiceSessions } from '../voice/sessions.ts';
import { VoiceCalls } from '../calls/voice-calls.ts';
import type { Clock } from '../kernel/clock.ts';
import type { NodeLease } from '../node/lease.ts';
import type { Budgets, Metering } from '../metering/contract.ts';
import type { LiveStores } from '../stores/contract.ts';
import type { DurableStores } from '../stores/postgres.ts';
import type { Events } from '../telemetry/events.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { isBrokered, type BrokeredProvider, type UpstreamProvider } from '../upstream/contract.ts';

export interface CallsFoundations {
  readonly config: Config;
  /** Of the node that holds the calls. */
  readonly lease: NodeLease;
  readonly provider: UpstreamProvider;
  readonly others: readonly BrokeredProvider[] | undefined;
  readonly installationKey: Buffer;
  readonly stores: DurableStores;
  readonly live: Pick<LiveStores, 'bus'>;
  readonly sessions: VoiceSessions;
  readonly metering: Metering;
  readonly budgets: Budgets;
  readonly clock: Clock;
  readonly events: Events;
  readonly trace: Trace<CallRecord>;
  readonly metrics: Metrics;
  readonly onError: (error: unknown) => void;
}

/** The calls of a service whose provider lets it open them; undefined for one whose browsers open them. */
export function wireCalls(on: CallsFoundations): VoiceCalls | undefined {
  const { config, lease, provider, stores, live, sessions, metering, budgets, clock, events, trace, metrics, onError } =
    on;
  if (!isBrokered(provider)) return undefined;
  const { calls, voice, upstream } = config;
  const held = new VoiceCalls(
    {
      limits: { graceSec: calls.graceSec, unheardSec: calls.unheardSec },
      voiceLimits: voice,
      createTimeoutMs: upstream.timeoutMs,
      readyMs: calls.sidebandReadyMs,
      perSession: calls.perSession,
      maxOpenResponses: calls.maxOpenResponses,
    },
    {
      lease,
      provider,
      others: on.others,
      installationKey: on.installationKey,
      store: stores.calls,
      nodes: stores.liveNodes,
      setups: stores.sessionSetups,
      sessions,
      metering,
      budgets,
      bus: live.bus,
      clock,
      events,
      trace,
      onError,
    },
  );
  metrics.observe('switchboard_calls_held', 'Calls at the provider that this process holds', () => held.held);
  metrics.observe(
    'switchboard_calls_foreign',
    'Calls that may go on and that nobody here has the credential to ask for',
    () => held.foreign,
  );
  metrics.observe('switchboard_call_sidebands', 'Calls that this process hears', () => held.sidebands);
  return held;
}
