import type { Config } from '../config/config.ts';
import { createAuthSessions } from './auth/auth-sessions.ts';
import { matchesEmailList } from './auth/email.ts';
import { createLoginCodes } from './auth/login-codes.ts';
import { createServiceTokens } from './auth/service-tokens.ts';
import { createSubjects } from './auth/subjects.ts';
import { createTokens } from './auth/tokens.ts';
import { startBackground } from './background.ts';
import { selectDetector } from './bots/select.ts';
import { migrate } from './database/migrate.ts';
import { openDatabase } from './database/open.ts';
import { createConsoleCookie } from './http/console-cookie.ts';
import type { Origins } from './http/cors.ts';
import { faultReply } from './http/error-reply.ts';
import { createPipeline } from './http/handle.ts';
import type { HttpReply } from './http/message.ts';
import { routesOf } from './http/routes/all.ts';
import { systemClock, type Clock } from './kernel/clock.ts';
import { Unavailable } from './kernel/errors.ts';
import type { Eventually } from './kernel/eventually.ts';
import { Release } from './kernel/release.ts';
import { createEdgeLimits } from './limits/edge.ts';
import { Outbox, type KeptMail } from './mail/outbox.ts';
import { selectMailer } from './mail/select.ts';
import { createCalendar } from './quota/calendar.ts';
import { withOverrides, type LimitsOf } from './quota/ceilings.ts';
import { createDurableStores } from './stores/durable.ts';
import { openLiveStores } from './stores/live.ts';
import { createEvents } from './telemetry/events.ts';
import type { Log } from './telemetry/log.ts';
import { Metrics } from './telemetry/metrics.ts';
import { bindDemo, withoutDemo } from './tenants/demo.ts';
import { TenantDirectory } from './tenants/directory.ts';
import { TenantsFileWatch } from './tenants/watch.ts';
import { listen } from './transport/server.ts';
import { selectProvider } from './upstream/select.ts';
import { dueAt } from './voice/deadlines.ts';
import { createVoiceSessions } from './voice/voice-sessions.ts';

const DRAIN_MS = 5000;
/** On top of a mint; mail is given up after four seconds. */
const REPLY_GRACE_MS = 7000;

/** What tests and other hosts may put in the place of the real parts. */
export interface Overrides {
  readonly clock?: Clock;
  /** Hears of each mail in the development mailbox. */
  readonly onDevMail?: (mail: KeptMail) => void;
}

/** A running service. */
export interface App {
  readonly port: number;
  readonly publicUrl: string;
  /** What runs where, for the start-up message. */
  readonly parts: {
    readonly storage: string;
    readonly registry: string;
    readonly mail: string;
    readonly provider: string;
  };
  /** Drains: readiness off, listener closed, replies finished, state saved (contract section 1). Never rejects. */
  close(): Promise<void>;
}

/**
 * Builds and starts the service: the only place that knows all parts.
 * @throws TenantsFileError, DirectoryInUse, MigrationError, Unavailable or what listening throws; then nothing runs on
 */
export async function startApp(config: Config, log: Log, overrides: Overrides = {}): Promise<App> {
  const release = new Release((error) => log.error({ event: 'fault', where: 'shutdown', err: error }));
  try {
    return await start(config, log, overrides, release);
  } catch (error) {
    await release.all();
    throw error;
  }
}

async function start(config: Config, log: Log, overrides: Overrides, release: Release): Promise<App> {
  const clock = overrides.clock ?? systemClock;
  const metrics = new Metrics();
  const events = createEvents(log, metrics);
  const onError = (error: unknown): void =>
    error instanceof Unavailable
      ? events.dependencyAway(error.dependency, error.cause)
      : events.faulted(error, undefined, 'background work');

  const database = await openDatabase(config);
  release.add(() => database.close());
  await migrate(database);
  const stores = createDurableStores(database);
  const installationKey = await stores.installation.secret('subjects');
  const jwtSecrets = config.jwtSecrets ?? [(await stores.installation.secret('development-jwt')).toString('base64url')];
  const live = openLiveStores(dueAt(config.voice), onError);
  release.add(() => live.close());
  const { bus, registry, slots, windows } = live;

  const mailer = selectMailer({ ...config.mail, clock, onDevMail: overrides.onDevMail });
  release.add(() => mailer.close());
  const provider = selectProvider({ ...config.upstream, clock });
  const subjects = createSubjects(installationKey);
  const { history, counters, ledger, replays, audit } = stores;

  const sessions = createVoiceSessions({ registry, history, slots, bus, limits: config.voice, events });
  release.add(() => sessions.flush());
  const directory = new TenantDirectory({
    tenants: stores.tenants,
    bus,
    onError,
    async onRevoked(keys) {
      for (const { tenantId, id } of keys) await sessions.endKey(tenantId, id, 'key_revoked', clock.now());
    },
  });
  const admits = (email: string): boolean => matchesEmailList(email, config.consoleEmails);
  const tokens = createTokens(jwtSecrets);
  const logins = createAuthSessions({ logins: stores.logins, bus, tokens, limits: config.auth, admits });
  release.add(() => logins.close());

  let ownUrl = config.publicUrl ?? '';
  const publicUrl = (): string => ownUrl;
  const codes = createLoginCodes({
    challenges: stores.challenges,
    counters,
    mailer,
    subjects,
    installationKey,
    limits: config.otp,
    admits,
    publicUrl,
    onMailRefused: (error) => events.warned('the mail server refuses a recipient', { err: error.cause }),
  });
  const limitsOf: LimitsOf = (caller, tenantId, keyId) =>
    caller === 'console'
      ? config.callers.console
      : withOverrides(config.callers.widget, directory.tenant(tenantId)?.keys.find(({ id }) => id === keyId)?.limits);
  let consoleOrigins: ReadonlySet<string> | undefined;
  const origins: Origins = {
    isConsole: (origin) => (consoleOrigins ??= new Set(config.consoleOrigins ?? [new URL(ownUrl).origin])).has(origin),
    isWidget: (origin) => directory.isWidgetOrigin(origin),
  };

  let isAccepting = true;
  let isReady = false;
  const handle = createPipeline({
    routes: routesOf({
      ...{ sessions, subjects, directory, codes, logins, events, metrics, provider, slots, clock, bus, origins },
      ...{ counters, ledger, replays, history, audit, limitsOf, publicUrl },
      bots: selectDetector(config.bots),
      limits: config.callers,
      requireOrigin: config.requireOriginForWidgets,
      requireLogin: config.requireAuthForSession,
      mintTimeoutMs: config.upstream.timeoutMs,
      calendar: createCalendar(config.quotaTimeZone),
      heartbeatIntervalSec: config.heartbeatIntervalSec,
      operatorEmails: config.operatorEmails,
      openMetrics: config.debugMetrics,
      destroyLogin: (loginId, atMs) => logins.destroy(loginId, 'violation', atMs),
      isAccepting: () => isAccepting,
      probes: { database: () => database.ping(), registry: () => live.ping() },
      outbox: mailer instanceof Outbox ? mailer : undefined,
    }),
    cookies: createConsoleCookie(logins, () => ownUrl.startsWith('https:')),
    isServiceToken: createServiceTokens(config.serviceTokens),
    edge: createEdgeLimits(windows, config.edge.perIpPerMinute, config.edge.perUserPerMinute),
    origins,
    trustedProxies: config.trustedProxies,
    events,
    metrics,
    timing: config.debugMetrics,
  });
  metrics.observe('switchboard_sessions_held', 'Records in the live registry', () => sessions.size());
  metrics.observe('switchboard_history_waiting', 'Records that wait for the database', () => sessions.waiting());

  const transport = await listen({
    host: config.host,
    port: config.port,
    replyDeadlineMs: config.upstream.timeoutMs + REPLY_GRACE_MS,
    clock,
    // The port is open before the tenants are known, because the demo's origin follows the port.
    handle: (request): Eventually<HttpReply> =>
      isReady ? handle(request) : faultReply(new Unavailable('database', 'starting'), request.requestId),
    onFault(error, requestId) {
      events.faulted(error, requestId, 'transport');
      return faultReply(error, requestId);
    },
  });
  release.add(() => transport.close(0));
  ownUrl ||= `http://localhost:${transport.port}`;

  await sessions.restore(clock.now());
  const watch = new TenantsFileWatch({
    file: config.tenantsFile,
    tenants: stores.tenants,
    bus,
    clock,
    adapt: (tenants) => (config.mode === 'production' ? withoutDemo(tenants) : bindDemo(tenants, ownUrl)),
    onMerged: () => undefined,
    onProblem: onError,
  });
  await watch.start();
  release.add(() => watch.stop());
  await directory.start();
  release.add(() => directory.stop());
  release.add(startBackground({ sessions, stores, clock, onError }));
  isReady = true;

  return {
    port: transport.port,
    publicUrl: ownUrl,
    parts: {
      storage: database.kind === 'embedded' ? `embedded PostgreSQL in ${config.dataDir}` : 'PostgreSQL',
      registry: live.kind === 'redis' ? 'Redis' : 'in this process',
      mail: mailer.kind === 'dev' ? 'development mailbox' : 'SMTP',
      provider: provider.simulated ? `${provider.name} (simulated)` : provider.name,
    },
    async close() {
      isAccepting = false;
      await transport.close(DRAIN_MS);
      await release.all();
    },
  };
}
