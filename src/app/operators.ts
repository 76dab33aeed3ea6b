import { createReplayMemory } from '../stores/replay-memory.ts';
import { hostname } from 'node:os';
import { version } from '../../config/build-info.ts';
import type { Identity } from '../auth/identity.ts';
import type { Hub } from '../channel/hub.ts';
import { tellActs, tellNotes, tellSessions } from '../feed/facts.ts';
import { Feed } from '../feed/feed.ts';
import { ActivityWriter } from '../operators/overview/activity-writer.ts';
import { hashConfig, hashSettings } from '../operators/live/this-process.ts';
import { Dependencies } from '../operators/live/dependencies.ts';
import { createOverviewCache, type OverviewCache } from '../operators/overview/overview-cache.ts';
import { Inspector } from '../operators/machines/inspector.ts';
import { describeMachines, journaledMachines } from '../operators/machines/machines.ts';
import { Presence } from '../node/presence.ts';
import { createOperators, serviceOperator, type Operator } from '../operators/roles.ts';
import { keyLimitsOf } from '../quota/ceilings.ts';
import type { ActivityCount } from '../stores/activity/contract.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { TenantDirectory } from '../tenants/directory.ts';
import { endingBy } from '../sessions/deadlines.ts';
import type { VoiceSessions } from '../sessions/sessions.ts';
import { hearsCalls } from '../upstream/contract.ts';
import { noBrokeringOf } from './file-faults.ts';
import type { Core } from './core.ts';

interface OperatorsNeighbours {
  readonly tenants: TenantDirectory;
  readonly identity: Identity;
  readonly sessions: VoiceSessions;
  readonly hub: Pick<Hub, 'attached'>;
  /** Whether this process sends traces to a collector itself. */
  readonly hasCollector: boolean;
}

/** Sessions that an inspector is shown at most when it attaches. */
const MAX_INSPECTED = 200;

/** What operators see of processes, dependencies and activity, and the feed that tells them of it as it happens. */
export function openOperators(core: Core, { tenants, identity, sessions, hub, hasCollector }: OperatorsNeighbours) {
  const { config, clock, node, database, stores, live, journal, metrics, provider, installationKey, nodes, onError } =
    core;
  const { bus } = live;
  const operatorOf = createOperators({
    operatorEmails: config.operatorEmails,
    viewerEmails: config.viewerEmails,
    administeredBy: (email) => tenants.administeredBy(email),
  });
  const dependencies = new Dependencies({
    probes: { database: () => stores.installation.tryWrite(), registry: () => live.probe() },
    health: { database: database.health, registry: live.health },
    onError,
    faultsOf: (name) => metrics.activity.faultsOf(name),
    hasCollector,
    clock,
  });
  const overviewCache = createOverviewCache({
    ...stores,
    dependencies,
    endingBy: (untilMs) => endingBy(untilMs, sessions.limits),
  });
  const configHash = hashConfig(config, installationKey);
  let machines: ReturnType<typeof describeMachines> | undefined;
  const presence = new Presence({
    ...stores,
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
      loopP99Ms: core.loop.p99Ms(),
      rss: process.memoryUsage.rss(),
      sockets: hub.attached,
      historyWaiting: sessions.recovery.writer.waiting.size,
      eventsWaiting: journal.writer.events,
      eventsDropped: metrics.activity.dropped,
      clockLeadMs: Math.round(live.clock.leadMs ?? 0),
    }),
    requests: core.requestsGiven,
    dependencies,
    nodes,
    bus,
    clock,
  });
  return {
    operatorOf,
    overviewCache,
    presence,
    configHash,
    feed: openFeed(core, identity, operatorOf, overviewCache, presence),
    inspector: config.inspect ? openInspector(core) : undefined,
    activityWriter: new ActivityWriter({ store: stores.activity, take: createTake(metrics), shard: node.shard, clock }),
    keys: {
      tenants: stores.tenants,
      acts: journal.acts,
      bus,
      clock,
      rules: {
        widget: keyLimitsOf(config.callers.widget),
        noBrokering: noBrokeringOf(provider),
        hearsCalls: hearsCalls('brokered', provider),
      },
    },
    secrets: core.secrets,
    budgetDeps: {
      budgets: stores.budgets,
      tenants: stores.tenants,
      acts: journal.acts,
      bus,
      clock,
      dayOf: (atMs: number) => core.calendar(atMs).day,
    },
    replayMemory: createReplayMemory,
    machines: () => (machines ??= describeMachines(config)),
    /** A dependency is ready only if it answers now, took the last probe's write, and real work on it succeeds. */
    probes: {
      async database() {
        dependencies.expectWell('database');
        await database.ping();
      },
      async registry() {
        dependencies.expectWell('registry');
        await live.ping();
      },
    },
  };
}

function openFeed(
  core: Core,
  { logins }: Identity,
  operatorOf: (email: string) => Operator,
  overviewCache: OverviewCache,
  presence: Presence,
): Feed {
  const { config, clock, node, live, journal, metrics, onError } = core;
  const feed = new Feed({
    node: node.id,
    bus: live.bus,
    now: () => clock.now(),
    async admit({ service, token }) {
      if (service !== null) return { operator: serviceOperator(service), loginId: null };
      const found = token === null ? undefined : await logins.authenticate(token, clock.now());
      return found === undefined ? undefined : { operator: operatorOf(found.login.email), loginId: found.login.id };
    },
    figures: overviewCache,
    nodes: core.nodes,
    presence,
    onError,
  });
  logins.onEnded((loginId) => feed.recheck(loginId));
  metrics.activity.onRefused(feed.refusals.count);
  journal.refusals.onKept(feed.refusals.sample);
  journal.writer.listen({
    traced: tellSessions(feed, config.voice),
    noted: tellNotes(feed),
    settled: tellActs(feed),
  });
  metrics.observe('switchboard_feed_sockets', 'Sockets of operators that watch the feed', () => feed.size);
  return feed;
}

function openInspector({ config, clock, stores, journal, onError }: Core): Inspector {
  const inspector = new Inspector({
    machines: journaledMachines(config),
    limits: config.voice,
    now: () => clock.now(),
    async open() {
      const { rows } = await stores.history.list({ states: ['engaged', 'idle', 'stale'] }, undefined, MAX_INSPECTED);
      return rows.map(({ record }) => record);
    },
    onError,
  });
  journal.writer.listen({ traced: (traced) => inspector.note(traced) });
  return inspector;
}

/** Takes what was counted since the last call, including replies, which the metrics count anyway. */
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
