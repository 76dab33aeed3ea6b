import { hostname } from 'node:os';
import type { Config } from '../../config/config.ts';
import { version } from '../../config/version.ts';
import type { Hub } from '../channel/hub.ts';
import type { Database } from '../database/database.ts';
import type { ReadinessDeps } from '../http/readiness.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { Clock } from '../kernel/clock.ts';
import { noBrokeringOf } from './call-mode.ts';
import { carryOver } from './carry-over.ts';
import { ActivityWriter, shardOf } from '../operator/activity-writer.ts';
import { createAddressHash } from '../operator/journal/address.ts';
import { hashConfig, hashSettings } from '../operator/config-hash.ts';
import { Dependencies } from '../operator/dependencies.ts';
import { createFigures } from '../operator/figures.ts';
import { JournalWriter } from '../operator/journal/writer.ts';
import type { LoopDelay } from '../operator/loop-delay.ts';
import { describeMachines } from '../operator/machines.ts';
import { NodeList } from '../operator/nodes.ts';
import { Presence } from '../operator/presence.ts';
import { Refusals } from '../operator/journal/refusals.ts';
import { keyLimitsOf } from '../quota/ceilings.ts';
import type { Refusal } from '../protocol/refusal.ts';
import type { Counted } from '../stores/activity/contract.ts';
import type { ActLog, NewEntry } from '../stores/journal/contract.ts';
import type { LiveStores } from '../stores/contract.ts';
import type { DurableStores } from '../stores/postgres.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { endingBy } from '../voice/deadlines.ts';
import type { UpstreamProvider } from '../upstream/contract.ts';
import type { VoiceSessions } from '../voice/sessions.ts';

export interface WriterParts {
  readonly stores: DurableStores;
  /** This process. */
  readonly node: string;
  readonly installationKey: Buffer;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly onError: (error: unknown) => void;
}

export interface Writers {
  readonly journalWriter: JournalWriter;
  readonly refusals: Refusals;
  readonly onRefusalKept: (listen: (entry: NewEntry<'refusal'>) => void) => void;
  readonly activityWriter: ActivityWriter;
}

/** What carries to the database, after the fact, what operators are shown later. */
export function wireWriters({ stores, node, installationKey, clock, metrics, onError }: WriterParts): Writers {
  const journalWriter = new JournalWriter({
    journal: stores.journal,
    node,
    onDropped(kind) {
      const [counter, label] =
        kind === 'refusal'
          ? ([metrics.refusalsDropped, 'refusal'] as const)
          : ([metrics.actorEventsDropped, 'event'] as const);
      counter.inc();
      metrics.activity.count('dropped', label);
    },
    onError,
  });
  let tellKept: (entry: NewEntry<'refusal'>) => void = () => {};
  const refusals = new Refusals({
    writer: journalWriter,
    node,
    hashOf: createAddressHash(installationKey),
    onKept(entry) {
      metrics.activity.count('kept', entry.code, entry.of);
      tellKept(entry);
    },
  });
  const activityWriter = new ActivityWriter({
    store: stores.activity,
    take: createTake(metrics),
    shard: shardOf(node),
    clock,
  });
  metrics.observe(
    'switchboard_events_waiting',
    'Events of actors that wait for the database',
    () => journalWriter.events,
  );
  metrics.observe('switchboard_refusals_waiting', 'Refusals that wait for the database', () => journalWriter.refusals);
  return { journalWriter, refusals, activityWriter, onRefusalKept: (listen) => void (tellKept = listen) };
}

/** What was counted since the last time, replies among it: those are counted for the metrics anyway. */
function createTake(metrics: Metrics): () => readonly Counted[] {
  let told = { all: 0, failed: 0 };
  return () => {
    const present = metrics.replies();
    const added = [
      { kind: 'request', n: present.all - told.all },
      { kind: 'failed', n: present.failed - told.failed },
    ] as const;
    told = present;
    const counted = added.filter(({ n }) => n > 0).map((one) => ({ ...one, label: '', tenantId: '', keyId: '' }));
    return [...metrics.activity.take(), ...counted];
  };
}

/** What is known of the process as a whole. */
export interface ProcessParts {
  /** What the request ids that it gives begin with, and how many it has given. */
  readonly requestIds: () => { readonly prefix: string; readonly given: number };
  readonly loop: LoopDelay;
}

export interface ConsoleParts extends Pick<WriterParts, 'node' | 'installationKey'> {
  /** The foundations of the service. */
  readonly on: Pick<WriterParts, 'clock' | 'stores' | 'metrics' | 'onError'> &
    ProcessParts & {
      readonly config: Config;
      readonly database: Pick<Database, 'ping' | 'health'>;
      readonly live: Pick<LiveStores, 'bus' | 'clock' | 'ping' | 'probe' | 'health'>;
      readonly provider: UpstreamProvider;
    };
  /** The one that tells the feed. */
  readonly acts: ActLog;
  readonly writers: Writers;
  readonly hub: Pick<Hub, 'attached'>;
  readonly sessions: Pick<VoiceSessions, 'recovery' | 'limits'>;
}

/** What the operator API shows of processes, of refusals and of what goes on. */
export function wireConsole({ on, acts, node, installationKey, writers, hub, sessions }: ConsoleParts) {
  const { config, clock, database, stores, live, metrics, provider, requestIds, loop, onError } = on;
  const { journalWriter } = writers;
  const nodes = new NodeList(clock);
  const dependencies = new Dependencies({
    probes: { database: () => stores.installation.tryWrite(), registry: () => live.probe() },
    health: { database: database.health, registry: live.health },
    onError,
    faultsOf: (name) => metrics.activity.faultsOf(name),
    clock,
  });
  const configHash = hashConfig(config, installationKey);
  const presence = new Presence({
    run: {
      prefix: requestIds().prefix,
      node,
      host: hostname(),
      version,
      configHash,
      shard: shardOf(node),
      startedAtMs: clock.now(),
    },
    pid: process.pid,
    settings: hashSettings(config.values, installationKey),
    vitals: () => ({
      loopP99Ms: loop.p99Ms(),
      rss: process.memoryUsage.rss(),
      sockets: hub.attached,
      historyWaiting: sessions.recovery.writer.waiting.size,
      eventsWaiting: journalWriter.events,
      eventsDropped: metrics.activity.dropped,
      clockLeadMs: Math.round(live.clock.leadMs ?? 0),
    }),
    requests: () => requestIds().given,
    dependencies,
    nodes,
    journal: stores.journal,
    requestTimes: stores.requestTimes,
    bus: live.bus,
    clock,
  });
  const { activity, journal, requestTimes, usageReports } = stores;
  const figures = createFigures({
    history: stores.history,
    activity,
    dependencies,
    endingBy: (untilMs) => endingBy(untilMs, sessions.limits),
  });
  return {
    carryOver: () => carryOver(stores.formerTables, clock),
    presence,
    probes: readinessProbes(dependencies, database, live),
    nodes,
    figures,
    activity,
    journal,
    acts,
    requestTimes,
    usageReports,
    loginStore: stores.logins,
    challengeStore: stores.challenges,
    keys: {
      tenants: stores.tenants,
      acts,
      bus: live.bus,
      clock,
      rules: { widget: keyLimitsOf(config.callers.widget), noBrokering: noBrokeringOf(provider) },
    },
    machines: () => describeMachines(config),
    callLimits: config.calls,
    timeZone: config.quotaTimeZone,
    retentionDays: config.retentionDays,
    shownSettings: config.shown,
    configHash,
  };
}

/** What answers now is ready only if it took the last probe's write, and if work succeeds. */
function readinessProbes(
  dependencies: Dependencies,
  database: Pick<Database, 'ping'>,
  live: Pick<LiveStores, 'ping'>,
): ReadinessDeps['probes'] {
  return {
    async database() {
      dependencies.expectWell('database');
      await database.ping();
    },
    async registry() {
      dependencies.expectWell('registry');
      await live.ping();
    },
  };
}

/** Hands what was refused to what keeps refusals. */
export function keepRefusals({ refusals }: Writers): (x: RequestContext, refusal: Refusal) => void {
  return ({ request: { requestId, atMs }, routeName: route, ip: address, origin }, refusal) =>
    refusals.keep({ requestId, atMs, route, address, origin }, refusal);
}
