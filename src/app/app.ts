import type { Config } from '../../config/config.ts';
import { requireBrokering } from './call-mode.ts';
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
import type { KeptMail } from '../mail/contract.ts';
import { selectMailer } from '../mail/select.ts';
import { buildService } from './compose.ts';
import { requireDrained } from './former-provider.ts';
import { readPrices } from '../metering/prices.ts';
import { createLoopDelay } from '../operator/loop-delay.ts';
import { createPostgresStores } from '../stores/postgres.ts';
import type { WidgetKey } from '../stores/tenants/contract.ts';
import { createEvents } from '../telemetry/events.ts';
import type { Log } from '../telemetry/log.ts';
import { Metrics } from '../telemetry/metrics.ts';
import { findDemoKey } from '../tenants/demo.ts';
import { thisNode } from '../node/identity.ts';
import { requestsGiven } from '../transport/request.ts';
import { connectionsWithin, openFilesLimit } from '../transport/open-files.ts';
import { listen, type ListenOptions, type Transport } from '../transport/server.ts';
import { answererOf, titleOf, type Answerer } from '../upstream/answerer.ts';
import { openProvider, selectOthers } from '../upstream/select.ts';
import { restoreLost } from '../voice/recovery/restore.ts';
import { socketsOf } from './serve.ts';
import { liveEngineOf, openLiveStores } from './stores.ts';
import { startTenants } from './tenants.ts';

const DRAIN_MS = 5000;
/** On top of a mint; mail is given up after four seconds. */
const REPLY_GRACE_MS = 7000;

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
  const { core, tenants, identity, usage, sessions, calls, operators, hub, handle } = service;
  const { journal } = core;
  // Last of all: what is flushed before may still be an event.
  disposables.add(() => journal.writer.flush());
  disposables.add(async () => journal.sessionNotes.finish());
  disposables.add(() => sessions.recovery.writer.flush());
  disposables.add(() => usage.metering.flush());
  disposables.add(() => operators.presence.leave());
  disposables.add(() => operators.activityWriter.flush());
  disposables.add(() => calls.held?.stop());
  disposables.add(() => identity.logins.close());
  disposables.add(() => identity.codes.settled());

  const countUnread = createUnreadCount(core);
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
        return faultReply(error, requestId, core.isHttps());
      },
      onUnfinished: countUnread,
      rejectMalformed(request) {
        countUnread(request);
        const { requestId, atMs, peer: address, headers } = request;
        const refusal = framingRefusal();
        const route = 'transport';
        events.refused(refusal.code, route, requestId, refusal.error);
        journal.refusals.keep({ requestId, atMs, route, address, origin: headers['origin'] }, refusal);
        return plainReply(refusal, requestId, core.isHttps());
      },
      sockets: socketsOf(service),
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
          isReady
            ? handle(request)
            : faultReply(new Unavailable('database', 'starting'), request.requestId, core.isHttps()),
        )
      : undefined;
  ownUrl ||= `http://localhost:${early?.port ?? config.port}`;

  await restoreLost(sessions.recovery).catch(onError);
  await calls.held?.renewLease();
  await startTenants(core, tenants, disposables);
  disposables.add(startBackground(service));
  await operators.presence.beat();
  patience.isPatient = false;
  isReady = true;
  const transport = early ?? (await open(handle));
  const demo = findDemoKey(tenants, new URL(ownUrl).origin);

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
      operators.feed.close();
      await transport.close(DRAIN_MS);
      await disposables.dispose();
    },
  };
}
