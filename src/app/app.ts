import type { Config } from '../../config/config.ts';
import { findDroppedTools, requireBrokering, requireBrokeringOf } from './call-mode.ts';
import { faultsOfFiles, StartFaults } from './file-faults.ts';
import { startBackground } from './background.ts';
import { selectDetector } from '../bots/select.ts';
import { migrate } from '../database/migrate.ts';
import type { Database } from '../database/database.ts';
import { openDatabase } from '../database/open.ts';
import type { Patience } from '../database/patience.ts';
import { faultReply, framingRefusal, plainReply } from '../http/error-reply.ts';
import { createUnreadCount } from '../http/steps/limit.ts';
import type { Clock } from '../kernel/clock.ts';
import { Unavailable } from '../kernel/errors.ts';
import { Disposables } from '../kernel/disposables.ts';
import { edgeWindows } from '../limits/edge.ts';
import type { KeptMail } from '../mail/contract.ts';
import { selectMailer } from '../mail/select.ts';
import { buildService } from './compose.ts';
import { closeFormerCalls } from '../calls/former-calls.ts';
import { requireDrained } from './former-provider.ts';
import { deleteWhatIsOver } from './retention.ts';
import { findShutdowns, requirePrices } from '../metering/check-prices.ts';
import { readPrices } from '../metering/prices.ts';
import { createLoopDelay } from '../operators/live/loop-delay.ts';
import { createPostgresStores } from '../stores/postgres.ts';
import type { WidgetKey } from '../stores/tenants/contract.ts';
import { createEvents } from '../telemetry/events.ts';
import type { Log } from '../telemetry/log.ts';
import { Metrics } from '../telemetry/metrics.ts';
import { findDemoKey, placeDemo } from '../tenants/demo.ts';
import { requireAdmins, withoutAdmins } from '../tenants/tenants-file.ts';
import { describeOpenKeys } from '../tenants/open-keys.ts';
import { TenantsFileWatch } from '../tenants/watch.ts';
import { thisNode } from '../node/identity.ts';
import { requestsGiven } from '../transport/request.ts';
import { connectionsWithin, openFilesLimit } from '../transport/open-files.ts';
import { listen, type ListenOptions, type Transport } from '../transport/server.ts';
import { answererOf, titleOf, type Answerer } from '../upstream/answerer.ts';
import { openProvider, selectOthers } from '../upstream/select.ts';
import { restoreLost } from '../voice/recovery/restore.ts';
import { socketsOf } from './sockets.ts';
import { liveEngineOf, openLiveStores } from './stores.ts';

const DRAIN_MS = 5000;
/** On top of a mint; mail is given up after four seconds. */
const REPLY_GRACE_MS = 7000;
/** Keys that one warning of the start names. */
const MAX_KEYS_TOLD = 20;

/** What tests and other hosts may put in the place of the real parts. */
export interface Overrides {
  readonly clock?: Clock;
  /** Hears of each mail in the development mailbox. */
  readonly onDevMail?: (mail: KeptMail) => void;
}

export interface App {
  readonly port: number;
  readonly publicUrl: string;
  /** What runs where, for the start-up message. */
  readonly parts: {
    readonly storage: string;
    readonly registry: string;
    readonly mail: string;
    readonly provider: string;
    readonly answerer: Answerer;
  };
  /** What a first page may use: the demo's key, where it is served, and its agent. */
  readonly demo: { readonly key: WidgetKey; readonly agentId: string | undefined } | undefined;
  /** Drains: readiness off, listener closed, replies finished, state saved (docs/contract.md, section 1.1). Never rejects. */
  close(): Promise<void>;
}

/**
 * Opens what the service stands on, builds it and serves it: with compose.ts the only place that knows all parts.
 * @throws ConfigError or TenantsFileError for the files, StartFaults for several at once, DirectoryInUse, MigrationError, Unavailable or what listening throws; then nothing runs on
 */
export async function startApp(config: Config, log: Log, overrides: Overrides = {}): Promise<App> {
  const disposables = new Disposables((error) => log.error({ event: 'fault', where: 'shutdown', err: error }));
  try {
    return await start(config, log, overrides, disposables);
  } catch (error) {
    await disposables.dispose();
    throw error;
  }
}

/** The database with its tables. What is wrong with the files is told together with a database that is away. */
async function openChecked(config: Config, disposables: Disposables, patience: Patience): Promise<Database> {
  const faults = await faultsOfFiles(config);
  try {
    const database = await openDatabase(config, patience);
    disposables.add(() => database.close());
    if (faults.length === 0) {
      await migrate(database);
      return database;
    }
  } catch (fault) {
    if (faults.length === 0) throw fault;
    throw new StartFaults([...faults, fault]);
  }
  throw faults.length === 1 ? faults[0] : new StartFaults(faults);
}

async function start(config: Config, log: Log, overrides: Overrides, disposables: Disposables): Promise<App> {
  const metrics = new Metrics();
  metrics.watchProcess();
  const events = createEvents(log, metrics);
  const onError = (error: unknown): void => events.faulted(error, undefined, 'background work');

  const patience = { isPatient: true };
  const database = await openChecked(config, disposables, patience);
  const prices = readPrices(config.calls.pricesFile);
  const stores = createPostgresStores(database);
  const live = await openLiveStores(config, {
    node: thisNode.id,
    history: stores.history,
    localClock: overrides.clock,
    clockAgreements: stores.clockAgreements,
    onError,
    events,
  });
  disposables.add(() => live.close());
  const { clock } = live;
  metrics.observe(
    'switchboard_clock_lead_seconds',
    'By how much the time in use is ahead of the live store, whose clock was set',
    () => (clock.leadMs ?? 0) / 1000,
  );
  const mailer = selectMailer({ ...config.mail, clock, onDevMail: overrides.onDevMail });
  disposables.add(() => mailer.close());
  const provider = openProvider({ ...config.upstream, clock }, config.mode);
  requireBrokering(config, provider);
  await requireDrained(config, provider, stores.calls, clock.now());
  disposables.add(() => provider.close?.());
  const bots = selectDetector(config.bots);

  let ownUrl = config.publicUrl ?? '';
  const isHttps = (): boolean => ownUrl.startsWith('https:');
  let isAccepting = true;
  let isReady = false;
  const service = await buildService({
    config,
    clock,
    database,
    stores,
    live,
    mailer,
    provider,
    others: selectOthers({ ...config.upstream, clock }),
    prices,
    bots,
    events,
    metrics,
    onError,
    publicUrl: () => ownUrl,
    node: thisNode,
    requestsGiven,
    loop: createLoopDelay(),
    isAccepting: () => isAccepting,
  });
  const { handle, hub, sessions, heldCalls, metering, feed, inspector, directory, logins, codes, calendar, presence } =
    service;
  // Last of all: what is flushed before may still be an event.
  disposables.add(() => service.journalWriter.flush());
  disposables.add(async () => service.sessionNotes.finish());
  disposables.add(() => sessions.recovery.writer.flush());
  disposables.add(() => metering.flush());
  disposables.add(() => presence.leave());
  disposables.add(() => service.activityWriter.flush());
  disposables.add(() => heldCalls?.stop());
  disposables.add(() => logins.close());
  disposables.add(() => codes.settled());

  const countUnread = createUnreadCount({ ...config, edge: edgeWindows(config.edge), windows: live.windows });
  const open = async (answer: ListenOptions['handle']): Promise<Transport> => {
    const transport = await listen({
      host: config.host,
      port: config.port,
      shared: config.workers > 1,
      maxConnections: connectionsWithin(openFilesLimit(), config.maxConnections),
      onConnectionRefused: (open) => events.connectionRefused(open),
      replyDeadlineMs: config.upstream.timeoutMs + REPLY_GRACE_MS,
      clock,
      handle: answer,
      onFault(error, requestId) {
        events.faulted(error, requestId, 'transport');
        return faultReply(error, requestId, isHttps());
      },
      onUnfinished: countUnread,
      rejectMalformed(request) {
        countUnread(request);
        const { requestId, atMs, peer: address, headers } = request;
        const refusal = framingRefusal();
        const route = 'transport';
        events.refused(refusal.code, route, requestId, refusal.error);
        service.refusals.keep({ requestId, atMs, route, address, origin: headers['origin'] }, refusal);
        return plainReply(refusal, requestId, isHttps());
      },
      sockets: socketsOf({ hub, feed, inspector }),
    });
    disposables.add(() => transport.close(0));
    metrics.observe('switchboard_connections_open', 'Open connections of this process', () => transport.connections);
    return transport;
  };
  // A free port is open before the tenants are known, because the demo's origin follows it. One that was given opens when all else
  // is ready, so that no caller meets a worker that is still starting.
  const early =
    config.port === 0
      ? await open((request) =>
          isReady ? handle(request) : faultReply(new Unavailable('database', 'starting'), request.requestId, isHttps()),
        )
      : undefined;
  ownUrl ||= `http://localhost:${early?.port ?? config.port}`;

  await restoreLost(sessions.recovery).catch(onError);
  await heldCalls?.renewLease();
  const watch = new TenantsFileWatch({
    file: config.tenantsFile,
    tenants: stores.tenants,
    bus: live.bus,
    clock,
    adapt(tenants) {
      const served = placeDemo(tenants, { mode: config.mode, publicUrl: ownUrl, database: database.kind });
      if (config.needsAdmins) requireAdmins(served, config.tenantsFile);
      requireBrokeringOf(served, config.tenantsFile, provider);
      requirePrices(served, config.tenantsFile, prices, config);
      return served;
    },
    onProblem: onError,
  });
  await watch.start();
  disposables.add(() => watch.stop());
  await directory.start();
  const closed = config.needsAdmins ? withoutAdmins(directory.all()).map(({ id }) => id) : [];
  if (closed.length > 0)
    events.warned(
      'tenants of the database that the tenants file does not name have no admins: they admit no console user',
      { tenants: closed },
    );
  for (const warning of findShutdowns(directory.all(), prices, clock.now())) events.warned(warning);
  for (const warning of findDroppedTools(directory.all(), provider)) events.warned(warning);
  const openKeys = describeOpenKeys(directory.all());
  if (openKeys.length > 0)
    events.warned('keys are open: whoever copies one has a free model (check-config names all)', {
      count: openKeys.length,
      keys: openKeys.slice(0, MAX_KEYS_TOLD),
    });
  disposables.add(() => directory.stop());
  const retention = { retention: stores.retention, days: config.retentionDays, calendar, onError };
  const purge = async (): Promise<void> => {
    await deleteWhatIsOver(clock.now(), retention);
    // As often, because who waits for what is held in vain is refused meanwhile.
    const wrong = (await stores.holds.recount()) ?? 0;
    if (wrong > 0) events.warned('sums of what sessions hold back were wrong, and are mended', { sums: wrong });
    if (heldCalls === undefined) await closeFormerCalls(stores.calls, config.calls, clock.now());
  };
  const recount = async (): Promise<void> => {
    const wrong = (await stores.history.recount()) ?? 0;
    if (wrong > 0) events.warned('counts of live sessions were wrong, and are mended', { counts: wrong });
  };
  disposables.add(
    startBackground({
      ...service,
      recovery: sessions.recovery,
      calls: heldCalls,
      purge,
      recount,
      onError,
    }),
  );
  await presence.beat();
  patience.isPatient = false;
  isReady = true;
  const transport = early ?? (await open(handle));
  const demo = findDemoKey(directory, new URL(ownUrl).origin);

  return {
    port: transport.port,
    publicUrl: ownUrl,
    parts: {
      storage: database.kind === 'embedded' ? `embedded PostgreSQL in ${config.dataDir}` : 'PostgreSQL',
      registry: liveEngineOf(config).name,
      mail: mailer.kind === 'dev' ? 'development mailbox' : 'SMTP',
      provider: titleOf(provider),
      answerer: answererOf(provider),
    },
    demo: demo && { key: demo.key, agentId: demo.tenant.agents[0]?.id },
    async close() {
      isAccepting = false;
      hub.close();
      feed.close();
      await transport.close(DRAIN_MS);
      await disposables.dispose();
    },
  };
}
