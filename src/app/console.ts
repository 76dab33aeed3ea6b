import { hostname } from 'node:os';
import type { Config } from '../../config/config.ts';
import { version } from '../../config/version.ts';
import type { Hub } from '../channel/hub.ts';
import type { Database } from '../database/database.ts';
import type { ReadinessDeps } from '../http/readiness.ts';
import type { Clock } from '../kernel/clock.ts';
import { noBrokeringOf } from './call-mode.ts';
import { carryOver } from './carry-over.ts';
import type { JournalFeature } from './journal.ts';
import { ActivityWriter } from '../operator/activity-writer.ts';
import { hashConfig, hashSettings } from '../operator/config-hash.ts';
import { Dependencies } from '../operator/dependencies.ts';
import { createFigures } from '../operator/figures.ts';
import type { NodeIdentity } from '../node/identity.ts';
import type { LoopDelay } from '../operator/loop-delay.ts';
import { describeMachines } from '../operator/machines.ts';
import type { NodeList } from '../node/nodes.ts';
import { Presence } from '../node/presence.ts';
import { keyLimitsOf } from '../quota/ceilings.ts';
import type { ActivityCount } from '../stores/activity/contract.ts';
import type { LiveStores } from '../stores/contract.ts';
import type { DurableStores } from '../stores/postgres.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { endingBy } from '../voice/deadlines.ts';
import type { UpstreamProvider } from '../upstream/contract.ts';
import type { VoiceSessions } from '../voice/sessions.ts';

/** What was counted since the last time, replies among it: those are counted for the metrics anyway. */
function createTake(metrics: Metrics): () => readonly ActivityCount[] {
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
  readonly node: NodeIdentity;
  /** How many request ids it has given. */
  readonly requestsGiven: () => number;
  readonly loop: LoopDelay;
}

export interface ConsoleParts {
  readonly installationKey: Buffer;
  readonly nodes: NodeList;
  /** The foundations of the service. */
  readonly on: ProcessParts & {
    readonly clock: Clock;
    readonly stores: DurableStores;
    readonly metrics: Metrics;
    readonly onError: (error: unknown) => void;
    readonly config: Config;
    readonly database: Pick<Database, 'ping' | 'health'>;
    readonly live: Pick<LiveStores, 'bus' | 'clock' | 'ping' | 'probe' | 'health'>;
    readonly provider: UpstreamProvider;
  };
  readonly journal: Pick<JournalFeature, 'acts' | 'journalWriter' | 'refusals'>;
  readonly hub: Pick<Hub, 'attached'>;
  readonly sessions: Pick<VoiceSessions, 'recovery' | 'limits'>;
}

/** What the operator API shows of processes, of refusals and of what goes on. */
export function wireConsole({ on, journal: { acts, journalWriter, refusals }, ...parts }: ConsoleParts) {
  const { installationKey, nodes, hub, sessions } = parts;
  const { config, clock, database, stores, live, metrics, provider, node, requestsGiven, loop, onError } = on;
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
      prefix: node.requestPrefix,
      node: node.id,
      host: hostname(),
      version,
      configHash,
      shard: node.shard,
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
    requests: requestsGiven,
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
    activityWriter: new ActivityWriter({
      store: stores.activity,
      take: createTake(metrics),
      shard: node.shard,
      clock,
    }),
    carryOver: () => carryOver(stores.formerTables, clock),
    presence,
    probes: readinessProbes(dependencies, database, live),
    nodes,
    figures,
    activity,
    journal,
    acts,
    refusals,
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
