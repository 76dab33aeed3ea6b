import type { Config } from '../../config/config.ts';
import { faultReply, framingRefusal, plainReply } from '../http/refusals.ts';
import { createUnreadCount } from '../http/steps/rate-limit.ts';
import { Disposables } from '../kernel/async.ts';
import { Unavailable } from '../kernel/errors.ts';
import type { WidgetKey } from '../stores/tenants/contract.ts';
import type { Log } from '../telemetry/log.ts';
import { findDemoKey } from '../tenants/demo.ts';
import { connectionsWithin, openFilesLimit, listen, type ListenOptions, type Transport } from '../transport/server.ts';
import { answererOf, titleOf, describeEnforcement, type Answerer } from '../upstream/enforcement.ts';
import { restoreLost } from '../sessions/recovery/restore.ts';
import { startBackground } from './background.ts';
import { buildService, type Service } from './compose.ts';
import type { Core } from './core.ts';
import { openFoundations, type Overrides } from './foundations.ts';
import { socketsOf } from './serve.ts';
import { liveEngineOf } from './stores.ts';
import { startTenants } from './tenants.ts';

const DRAIN_MS = 5000;
/** Time a reply may take beyond the mint's timeout; sending a mail is abandoned after four seconds. */
const REPLY_GRACE_MS = 7000;

export interface App {
  readonly port: number;
  readonly publicUrl: string;
  /** Which implementation serves each part, for the start-up message. */
  readonly parts: {
    readonly storage: string;
    readonly registry: string;
    readonly mail: string;
    readonly provider: string;
    readonly answerer: Answerer;
    /** True where the end of a session only tells its page to hang up, and nothing enforces it. */
    readonly areEndsAdvisory: boolean;
  };
  /** What the first page may use: the demo's key and its agent, where the demo is served. */
  readonly demo: { readonly key: WidgetKey; readonly agentId: string | undefined } | undefined;
  /** Drains: readiness off, listener closed, replies finished, state saved (docs/contract.md, section 1.1). Never rejects. */
  close(): Promise<void>;
}

/**
 * Opens the foundations of the service, builds it and serves it. Only this file and compose.ts know all parts.
 * @throws ConfigError or TenantsFileError for the files, StartFaults for several at once, DirectoryInUse, MigrationError, Unavailable,
 *   or what listening throws; nothing is left running then
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

async function start(config: Config, log: Log, overrides: Overrides, disposables: Disposables): Promise<App> {
  const own = { url: config.publicUrl ?? '', isAccepting: true, isReady: false };
  const patience = { isPatient: true };
  const foundations = await openFoundations(config, log, overrides, patience, disposables);
  const service = await buildService({ ...foundations, publicUrl: () => own.url, isAccepting: () => own.isAccepting });
  const { core, tenants, sessions, calls, operators, hub, handle } = service;
  closeWith(service, disposables);

  // A free port is opened before the tenants are known, because the demo's origin depends on it. A configured port is opened once
  // everything else is ready, so that no caller reaches a worker that is still starting.
  const early =
    config.port === 0
      ? await openTransport(service, disposables, (request) =>
          own.isReady
            ? handle(request)
            : faultReply(new Unavailable('database', 'starting'), request.requestId, core.isHttps()),
        )
      : undefined;
  own.url ||= `http://localhost:${early?.port ?? config.port}`;

  await restoreLost(sessions.recovery).catch(core.onError);
  await calls.held?.renewLease();
  await startTenants(core, tenants, disposables);
  disposables.add(startBackground(service));
  await operators.presence.beat();
  patience.isPatient = false;
  own.isReady = true;
  const transport = early ?? (await openTransport(service, disposables, handle));
  const demo = findDemoKey(tenants, new URL(own.url).origin);

  return {
    port: transport.port,
    publicUrl: own.url,
    parts: partsOf(core),
    demo: demo && { key: demo.key, agentId: demo.tenant.agents[0]?.id },
    async close() {
      own.isAccepting = false;
      hub.close();
      operators.feed.close();
      await transport.close(DRAIN_MS);
      await disposables.dispose();
    },
  };
}

/** Registers what must be written when the service stops. The journal goes last, because what is flushed before it may still add entries. */
function closeWith(
  { core, identity, usage, sessions, calls, bots, serverTools, webhooks, traces, operators }: Service,
  disposables: Disposables,
): void {
  const { journal } = core;
  disposables.add(() => journal.writer.flush());
  disposables.add(async () => journal.sessionNotes.finish());
  disposables.add(() => sessions.recovery.writer.flush());
  disposables.add(async () => sessions.beats?.flush());
  disposables.add(() => usage.metering.flush());
  disposables.add(async () => core.nodes.stop());
  disposables.add(() => operators.presence.leave());
  disposables.add(() => operators.activityWriter.flush());
  disposables.add(async () => serverTools.close());
  disposables.add(async () => bots.close());
  // In parallel, so that a stop takes only as long as the slower of the two.
  disposables.add(() => Promise.all([webhooks.close(), traces?.close()]));
  disposables.add(() => calls.held?.stop());
  disposables.add(() => identity.logins.close());
  disposables.add(() => identity.codes.settled());
}

/** Serves HTTP requests and sockets on the port. @param answer answers requests */
async function openTransport(
  service: Service,
  disposables: Disposables,
  answer: ListenOptions['handle'],
): Promise<Transport> {
  const { config, clock, events, metrics, journal, isHttps } = service.core;
  const countUnread = createUnreadCount(service.core);
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
      journal.refusals.keep({ requestId, atMs, route, address, origin: headers['origin'] }, refusal);
      return plainReply(refusal, requestId, isHttps());
    },
    sockets: socketsOf(service),
  });
  disposables.add(() => transport.close(0));
  metrics.observe('switchboard_connections_open', 'Open connections of this process', () => transport.connections);
  return transport;
}

function partsOf({ config, database, mailer, provider }: Core): App['parts'] {
  return {
    storage: database.kind === 'embedded' ? `embedded PostgreSQL in ${config.dataDir}` : 'PostgreSQL',
    registry: liveEngineOf(config).name,
    mail: mailer.kind === 'dev' ? 'development mailbox' : 'SMTP',
    provider: titleOf(provider),
    answerer: answererOf(provider),
    areEndsAdvisory: describeEnforcement(provider.capabilities, config.calls.mode).end.startsWith('advisory'),
  };
}
