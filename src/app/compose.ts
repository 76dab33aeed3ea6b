import type { Config } from '../../config/config.ts';
import { version } from '../../config/version.ts';
import { createServiceTokens } from '../auth/service-tokens.ts';
import { createSubjects } from '../auth/subjects.ts';
import { createCallModes } from './call-mode.ts';
import type { BotDetector } from '../bots/contract.ts';
import type { Calls } from '../calls/contract.ts';
import { NoCalls } from '../calls/no-calls.ts';
import { Tickets } from '../calls/tickets.ts';
import { describeChannel } from '../channel/asyncapi.ts';
import { Hub } from '../channel/hub.ts';
import { wireCalls } from './calls.ts';
import type { Database } from '../database/database.ts';
import { createPipeline } from '../http/pipeline.ts';
import { routesOf } from './routes.ts';
import { SOCKET_PATH, SUBPROTOCOL } from '../http/routes/socket.ts';
import { createConsoleCookie } from '../http/steps/login.ts';
import { createOrigins } from '../http/steps/origin.ts';
import type { Clock } from '../kernel/clock.ts';
import { edgeWindows } from '../limits/edge.ts';
import { NodeLease } from '../node/lease.ts';
import { NodeList } from '../node/nodes.ts';
import type { Mailer } from '../mail/contract.ts';
import { DevMailbox } from '../mail/dev-mailbox.ts';
import { createCalendar } from '../quota/calendar.ts';
import { createCeilings } from '../quota/caller-ceilings.ts';
import { sharedCeilings, type SharedOf } from '../quota/shared-ceilings.ts';
import type { DurableStores } from '../stores/postgres.ts';
import type { LiveStores } from '../stores/contract.ts';
import type { Events } from '../telemetry/events.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Prices } from '../metering/prices.ts';
import { withoutDemo } from '../tenants/demo.ts';
import { TenantDirectory } from '../tenants/directory.ts';
import type { BrokeredProvider, UpstreamProvider } from '../upstream/contract.ts';
import { VoiceSessions } from '../voice/sessions.ts';
import { wireLogins } from './logins.ts';
import { wireOperating } from './operating.ts';
import { buildMetering } from './metering.ts';
import { wireConsole, type ProcessParts } from './console.ts';
import { wireJournal } from './journal.ts';

/** What a service stands on: engines, outside parties, clock. The composition root opens them, or a test does. */
export interface Foundations extends ProcessParts {
  readonly config: Config;
  readonly clock: Clock;
  /** How a request that waits for another lets time pass. */
  readonly pause?: (ms: number) => Promise<unknown>;
  /** Migrated. */
  readonly database: Database;
  readonly stores: DurableStores;
  readonly live: LiveStores;
  readonly mailer: Mailer;
  readonly provider: UpstreamProvider;
  /** The same provider with credentials that only hear and end calls. */
  readonly others?: readonly BrokeredProvider[];
  readonly prices: Prices;
  readonly bots: BotDetector;
  readonly events: Events;
  readonly metrics: Metrics;
  /** Gets faults in work that no request waits for. */
  readonly onError: (error: unknown) => void;
  /** The service's own address, without a trailing slash; asked late, because a free port is known late. */
  readonly publicUrl: () => string;
  /** False from the moment a shutdown begins. */
  readonly isAccepting: () => boolean;
}

export type Service = Awaited<ReturnType<typeof buildService>>;

/**
 * Wires the features to their foundations, and the routes to the features. It opens no port and starts no timer.
 * @throws Unavailable when the database is away
 */
export async function buildService(on: Foundations) {
  const { config, clock, stores, live, mailer, provider, prices, bots, events, metrics, onError, publicUrl } = on;
  const { bus, slots, sockets, windows } = live;
  const installationKey = await stores.installation.secret('subjects');

  const { node } = on;
  const nodes = new NodeList({ node: node.id, bus, clock });
  const lease = new NodeLease({ node: node.id, calls: stores.liveNodes, sockets, nodes, clock, onError });
  const journal = wireJournal({ ...on, node: node.id, installationKey });
  const { trace, note, silence } = journal;

  const subjects = createSubjects(installationKey);
  const sessions = new VoiceSessions({ live, history: stores.history, limits: config.voice, events, trace, silence });
  const directory = new TenantDirectory({
    // A database that served development before still holds the demo.
    tenants:
      config.mode === 'production'
        ? { all: async () => withoutDemo(await stores.tenants.all(), publicUrl()) }
        : stores.tenants,
    bus,
    needsAdmins: config.needsAdmins,
    onError,
    async onRevoked(keys) {
      for (const { tenantId, id } of keys) await sessions.endKey(tenantId, id, 'key_revoked', clock.now());
    },
  });
  const isHttps = (): boolean => publicUrl().startsWith('https:');
  const { admits, logins, codes, devices } = await wireLogins({
    ...on,
    bus,
    subjects,
    installationKey,
    trace,
    isHttps,
  });
  const ceilings = createCeilings({ limits: config.callers, tenant: (id) => directory.tenant(id) });
  const sharedOf: SharedOf = (tenantId, keyId) =>
    sharedCeilings(tenantId, keyId, directory.keyNamed(tenantId, keyId ?? ''), directory.tenant(tenantId));
  const consoleOrigins = () => config.consoleOrigins ?? [new URL(publicUrl()).origin];
  const origins = createOrigins({ consoleOrigins, directory });

  const calendar = createCalendar(config.quotaTimeZone);
  const { heartbeatIntervalSec } = config;

  const edge = edgeWindows(config.edge);
  const tickets = new Tickets({ store: stores.callTickets, ttlSec: config.upstream.clientSecretTtlSec });
  const { metering, budgets, clientReports, reserveOf } = buildMetering({
    config,
    provider,
    prices,
    metrics,
    events,
    onError,
    clock,
    calendar,
    sessions,
    bus,
    sharedOf,
    note,
    ...ceilings,
    ledger: stores.ledger,
    holds: stores.holds,
    setups: stores.sessionSetups,
    calls: stores.calls,
  });
  const heldCalls = wireCalls({
    config,
    lease,
    provider,
    others: on.others,
    installationKey,
    stores,
    live,
    sessions,
    metering,
    budgets,
    clock,
    events,
    trace,
    metrics,
    onError,
  });
  const calls: Calls = heldCalls ?? new NoCalls(stores.calls);

  const features = {
    sessions,
    note,
    subjects,
    directory,
    logins,
    codes,
    admits,
    devices,
    ...ceilings,
    sharedOf,
    isKeyRevoked: (tenantId: string, keyId: string) => directory.isRevoked(tenantId, keyId),
    widgetTokensPerMinute: config.widgetTokensPerMinute,
    clientReports,
    origins,
  };
  const hub = new Hub({
    ...features,
    ledger: stores.ledger,
    lease,
    bus,
    sockets,
    edge,
    windows,
    clock,
    events,
    onError,
    calendar,
    heartbeatIntervalSec,
    maxSocketsPerAddress: config.edge.maxSocketsPerIp,
    frames: { burst: config.edge.burst, perMinute: config.edge.perIpPerMinute },
  });
  const cookies = createConsoleCookie(logins, isHttps);
  const serviceOf = createServiceTokens(config.serviceTokens);
  const operating = wireConsole({ on, journal, installationKey, nodes, hub, sessions });
  const { figures, presence } = operating;
  const { listen } = journal;
  const { operatorOf, feed, inspector } = wireOperating({
    ...on,
    node: node.id,
    bus,
    listen,
    figures,
    nodes,
    presence,
    directory,
    cookies,
  });
  logins.onEnded((loginId) => feed.recheck(loginId));
  const handle = createPipeline({
    routes: routesOf({
      ...features,
      counters: stores.counters,
      keySlots: stores.keySlots,
      holds: stores.holds,
      reserveOf,
      ledger: stores.ledger,
      replays: stores.replays,
      history: stores.history,
      ...operating,
      events,
      metrics,
      provider,
      callModeOf: createCallModes(config.calls.mode, provider),
      setups: stores.sessionSetups,
      tickets,
      calls,
      bots,
      slots,
      bus,
      clock,
      publicUrl,
      limits: config.callers,
      requireOrigin: config.requireOriginForWidgets,
      requireLogin: config.requireAuthForSession,
      mintTimeoutMs: config.upstream.timeoutMs,
      pause: on.pause,
      calendar,
      heartbeatIntervalSec,
      openMetrics: config.debugMetrics,
      destroyLogin: (loginId, atMs, requestId) => logins.destroy(loginId, 'violation', atMs, requestId),
      isAccepting: on.isAccepting,
      isProduction: config.mode === 'production',
      cookies,
      serviceOf,
      inspects: config.inspect,
      asyncapi: () => describeChannel({ serverUrl: publicUrl(), path: SOCKET_PATH, subprotocol: SUBPROTOCOL }, version),
      outbox: mailer instanceof DevMailbox ? mailer : undefined,
    }),
    cookies,
    isHttps,
    operatorOf,
    serviceOf,
    onRefused: ({ request: { requestId, atMs }, routeName: route, ip: address, origin }, refusal) =>
      journal.refusals.keep({ requestId, atMs, route, address, origin }, refusal),
    edge,
    windows,
    origins,
    trustedProxies: config.trustedProxies,
    events,
    metrics,
    timing: config.debugMetrics,
  });
  metrics.tellBuild(version);
  metrics.observe('switchboard_sessions_held', 'Records in the live registry', () => live.registry.size());
  metrics.observe('switchboard_sockets_attached', 'Sockets that are attached to a session', () => hub.attached);
  metrics.observe(
    'switchboard_history_waiting',
    'Records that wait for the database',
    () => sessions.recovery.writer.waiting.size,
  );

  return {
    ...features,
    ...operating,
    calendar,
    feed,
    inspector,
    journalWriter: journal.journalWriter,
    sessionNotes: journal.sessionNotes,
    calls,
    heldCalls,
    tickets,
    handle,
    hub,
    metering,
    budgets,
    stores,
  };
}
