import type { Config } from '../config/config.ts';
import { createAuthSessions } from './auth/auth-sessions.ts';
import { clearedSessionCookie, readSessionCookie, sessionCookie } from './auth/cookie.ts';
import { matchesEmailList } from './auth/email.ts';
import { createLoginCodes } from './auth/login-codes.ts';
import { createServiceTokens } from './auth/service-tokens.ts';
import { createSubjects } from './auth/subjects.ts';
import { createTokens } from './auth/tokens.ts';
import { selectDetector } from './bots/select.ts';
import { migrate } from './database/migrate.ts';
import { openDatabase } from './database/open.ts';
import { errorBody, refusalOfFault } from './http/error-reply.ts';
import type { Origins } from './http/cors.ts';
import { createPipeline, type CookieKeeper } from './http/handle.ts';
import type { HttpReply, HttpRequest } from './http/message.ts';
import { routesOf } from './http/routes/all.ts';
import { systemClock, type Clock } from './kernel/clock.ts';
import { Unavailable } from './kernel/errors.ts';
import type { Eventually } from './kernel/eventually.ts';
import { repeat } from './kernel/repeat.ts';
import { createEdgeLimits } from './limits/edge.ts';
import { parseSender } from './mail/address.ts';
import type { Mailer } from './mail/contract.ts';
import { Outbox, type KeptMail } from './mail/outbox.ts';
import { parseSmtpUrl } from './mail/smtp-url.ts';
import { SmtpMailer } from './mail/smtp.ts';
import { createCalendar } from './quota/calendar.ts';
import { withOverrides, type LimitsOf } from './quota/ceilings.ts';
import { createInProcessBus } from './stores/bus/in-process.ts';
import { createInProcessSlots } from './stores/slots/in-process.ts';
import { createDurableStores, type DurableStores } from './stores/stores.ts';
import { createInProcessVoiceRegistry } from './stores/voice-registry/in-process.ts';
import { createInProcessWindows } from './stores/windows/in-process.ts';
import { createEvents } from './telemetry/events.ts';
import type { Log } from './telemetry/log.ts';
import { Metrics } from './telemetry/metrics.ts';
import { bindDemo, withoutDemo } from './tenants/demo.ts';
import { TenantDirectory } from './tenants/directory.ts';
import { TenantsFileWatch } from './tenants/watch.ts';
import { listen } from './transport/server.ts';
import { selectProvider } from './upstream/select.ts';
import { createVoiceSessions, dueAt } from './voice/voice-sessions.ts';

const SWEEP_MS = 500;
const SWEEP_BATCH = 500;
const SWEEP_LEASE_MS = 5000;
const FLUSH_MS = 1000;
const PURGE_MS = 10 * 60_000;
const DRAIN_MS = 5000;
/** Longer than the slowest reply: a mint, or a mail. */
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
  readonly parts: { readonly storage: string; readonly mail: string; readonly provider: string };
  /** Drains: readiness off, listener closed, replies finished, state saved (contract section 1). */
  close(): Promise<void>;
}

/**
 * Builds and starts the service: the only place that knows all parts.
 * @throws TenantsFileError, DirectoryInUse, MigrationError, Unavailable or what listening throws; then nothing runs on
 */
export async function startApp(config: Config, log: Log, overrides: Overrides = {}): Promise<App> {
  const undo: (() => unknown)[] = [];
  try {
    return await start(config, log, overrides, undo);
  } catch (error) {
    for (const step of undo.reverse()) await step();
    throw error;
  }
}

async function start(config: Config, log: Log, overrides: Overrides, undo: (() => unknown)[]): Promise<App> {
  const clock = overrides.clock ?? systemClock;
  const metrics = new Metrics();
  const events = createEvents(log, metrics);
  const report = (error: unknown): void =>
    error instanceof Unavailable
      ? events.dependencyAway(error.dependency, error.cause)
      : events.faulted(error, undefined, 'background work');

  const database = await openDatabase(config);
  undo.push(() => database.close());
  await migrate(database);
  const stores = createDurableStores(database);
  const installationKey = await stores.installation.secret('subjects');
  const jwtSecrets = config.jwtSecrets ?? [(await stores.installation.secret('development-jwt')).toString('base64url')];

  const bus = createInProcessBus(report);
  const slots = createInProcessSlots();
  const registry = createInProcessVoiceRegistry(dueAt(config.voice));
  const mailer = createMailer(config, clock, overrides);
  undo.push(() => mailer.close());
  const subjects = createSubjects(installationKey);
  const provider = selectProvider({ ...config.upstream, clock });
  const sessions = createVoiceSessions({ registry, history: stores.history, slots, bus, limits: config.voice, events });

  const directory = new TenantDirectory({
    tenants: stores.tenants,
    bus,
    onError: report,
    async onRevoked(keys) {
      for (const { tenantId, id } of keys) await sessions.endKey(tenantId, id, 'key_revoked', clock.now());
    },
  });
  const admits = (email: string): boolean => matchesEmailList(email, config.consoleEmails);
  const logins = createAuthSessions({
    logins: stores.logins,
    bus,
    tokens: createTokens(jwtSecrets),
    limits: config.auth,
    admits,
  });
  undo.push(() => logins.close());

  let publicUrl = config.publicUrl?.replace(/\/+$/, '') ?? '';
  const address = (): string => publicUrl;
  const codes = createLoginCodes({
    challenges: stores.challenges,
    counters: stores.counters,
    mailer,
    subjects,
    installationKey,
    limits: config.otp,
    admits,
    publicUrl: address,
    onMailRefused: (error) => events.warned('the mail server refuses a recipient', { err: error.cause }),
  });

  const limitsOf: LimitsOf = (caller, tenantId, keyId) =>
    caller === 'console'
      ? config.callers.console
      : withOverrides(config.callers.widget, directory.tenant(tenantId)?.keys.find(({ id }) => id === keyId)?.limits);

  let consoleOrigins: ReadonlySet<string> | undefined;
  const origins: Origins = {
    isConsole: (origin) =>
      (consoleOrigins ??= new Set(config.consoleOrigins ?? [new URL(publicUrl).origin])).has(origin),
    isWidget: (origin) => directory.isWidgetOrigin(origin),
  };

  let accepting = true;
  const routes = routesOf({
    sessions,
    subjects,
    directory,
    codes,
    logins,
    events,
    metrics,
    provider,
    slots,
    clock,
    bus,
    counters: stores.counters,
    ledger: stores.ledger,
    replays: stores.replays,
    history: stores.history,
    audit: stores.audit,
    bots: selectDetector(config.bots),
    limits: config.callers,
    limitsOf,
    requireOrigin: config.requireOriginForWidgets,
    requireLogin: config.requireAuthForSession,
    mintTimeoutMs: config.upstream.timeoutMs,
    calendar: createCalendar(config.quotaTimeZone),
    heartbeatIntervalSec: config.heartbeatIntervalSec,
    operatorEmails: config.operatorEmails,
    openMetrics: config.debugMetrics,
    destroyLogin: (loginId, atMs) => logins.destroy(loginId, 'violation', atMs),
    origins,
    publicUrl: address,
    isAccepting: () => accepting,
    probes: { database: () => database.ping() },
    outbox: mailer instanceof Outbox ? mailer : undefined,
  });
  metrics.observe('switchboard_sessions_held', 'Records in the live registry', () => sessions.size());
  metrics.observe('switchboard_history_waiting', 'Records that wait for the database', () => sessions.waiting());

  const handle = createPipeline({
    routes,
    cookies: cookieKeeper(logins, () => publicUrl.startsWith('https:')),
    isServiceToken: createServiceTokens(config.serviceTokens),
    edge: createEdgeLimits(createInProcessWindows(), config.edge.perIpPerMinute, config.edge.perUserPerMinute),
    origins,
    trustedProxies: config.trustedProxies,
    events,
    metrics,
    timing: config.debugMetrics,
  });

  let isReady = false;
  const transport = await listen({
    host: config.host,
    port: config.port,
    replyDeadlineMs: config.upstream.timeoutMs + REPLY_GRACE_MS,
    clock,
    handle: (request): Eventually<HttpReply> => (isReady ? handle(request) : notYet(request)),
    onFault(error, requestId) {
      events.faulted(error, requestId, 'transport');
      return plainReply(error, requestId);
    },
  });
  undo.push(() => transport.close(0));
  publicUrl ||= `http://localhost:${transport.port}`;

  const watch = new TenantsFileWatch({
    file: config.tenantsFile,
    tenants: stores.tenants,
    bus,
    clock,
    adapt: (tenants) => (config.mode === 'production' ? withoutDemo(tenants) : bindDemo(tenants, publicUrl)),
    onMerged: () => undefined,
    onProblem: report,
  });
  await sessions.restore(clock.now());
  await watch.start();
  undo.push(() => watch.stop());
  await directory.start();
  undo.push(() => directory.stop());

  const stops = [
    repeat(SWEEP_MS, () => sweepAll(sessions, clock), report),
    repeat(FLUSH_MS, () => sessions.flush(), report),
    repeat(PURGE_MS, () => purge(stores, clock.now()), report),
  ];
  isReady = true;

  async function close(): Promise<void> {
    accepting = false;
    await transport.close(DRAIN_MS);
    await Promise.all(stops.map((stop) => stop()));
    await watch.stop();
    await directory.stop();
    logins.close();
    mailer.close();
    await sessions.flush().catch(report);
    await database.close();
  }

  let closing: Promise<void> | undefined;
  return {
    port: transport.port,
    publicUrl,
    parts: {
      storage: database.kind === 'embedded' ? `embedded in ${config.dataDir}` : 'PostgreSQL',
      mail: mailer.kind === 'dev' ? 'development mailbox' : 'SMTP',
      provider: provider.simulated ? `${provider.name} (simulated)` : provider.name,
    },
    close: () => (closing ??= close()),
  };
}

function createMailer(config: Config, clock: Clock, { onDevMail }: Overrides): Mailer {
  if (config.mail.smtpUrl === undefined)
    return new Outbox({ clock, ...(onDevMail === undefined ? {} : { onMail: onDevMail }) });
  return new SmtpMailer({ server: parseSmtpUrl(config.mail.smtpUrl), from: parseSender(config.mail.from) });
}

function cookieKeeper(
  logins: Pick<ReturnType<typeof createAuthSessions>, 'authenticate'>,
  isSecure: () => boolean,
): CookieKeeper {
  return {
    read: readSessionCookie,
    authenticate: (token, atMs) => logins.authenticate(token, atMs),
    write: (change, atMs) =>
      change.kind === 'clear'
        ? clearedSessionCookie(isSecure())
        : sessionCookie({ token: change.token, expiresAtMs: change.expiresAtMs, atMs, isSecure: isSecure() }),
  };
}

/** Sweeps until nothing more is due. */
async function sweepAll(
  sessions: { sweep(at: number, limit: number, leaseMs: number): Promise<number> },
  clock: Clock,
): Promise<void> {
  while ((await sessions.sweep(clock.now(), SWEEP_BATCH, SWEEP_LEASE_MS)) === SWEEP_BATCH);
}

/** Deletes what nobody will ask for again. */
async function purge(stores: DurableStores, at: number): Promise<void> {
  const dayMs = 86_400_000;
  await stores.counters.purge(at - dayMs);
  await stores.challenges.purge(at - dayMs);
  await stores.logins.purge(at - 30 * dayMs);
  await stores.replays.purge(at);
}

function plainReply(error: unknown, requestId: string): HttpReply {
  const refusal = refusalOfFault(error, requestId);
  return {
    status: refusal.status,
    headers: [
      ['Content-Type', 'application/json; charset=utf-8'],
      ['X-Request-Id', requestId],
      ['Cache-Control', 'no-store'],
    ],
    body: JSON.stringify(errorBody(refusal)),
  };
}

/** The port is open before the tenants are known, because the demo's origin follows the port. */
function notYet(request: HttpRequest): HttpReply {
  return plainReply(new Unavailable('database', new Error('starting')), request.requestId);
}
