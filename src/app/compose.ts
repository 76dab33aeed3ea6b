import { version } from '../../config/build-info.ts';
import type { ChannelDeps } from '../channel/deps.ts';
import { Hub } from '../channel/hub.ts';
import { createPipeline } from '../http/pipeline.ts';
import { createReadiness } from '../http/routes/health.ts';
import { createOrigins } from '../http/steps/origin.ts';
import { addressesOf } from '../protocol/email.ts';
import { openCreates } from '../sessions/create/create-session.ts';
import { VoiceSessions } from '../sessions/sessions.ts';
import { openBots } from './bots.ts';
import { openCalls } from './calls.ts';
import { openCore, type Core } from './core.ts';
import type { Foundations } from './foundations.ts';
import { openIdentity } from './identity.ts';
import { openReconciliation, tellDrift } from './reconciliation.ts';
import { openOperators } from './operators.ts';
import { allRoutes } from './serve.ts';
import { openServerTools } from './tools.ts';
import { openTenants } from './tenants.ts';
import { openTraces } from './traces.ts';
import type { TenantDirectory } from '../tenants/directory.ts';
import { openUsage, type OpenUsage } from './usage.ts';
import { openWebhooks, type AdminsOf } from './webhooks.ts';

/** The whole service: its features as the routes see them, and what only the process itself uses. */
export type Service = Awaited<ReturnType<typeof buildService>>;

/**
 * Builds the service on its foundations: each feature gets the interfaces of those it depends on, and the routes get all of them. It
 * opens no port and starts no timer.
 * @throws Unavailable when the database is away
 */
export async function buildService(foundations: Foundations) {
  const core = await openCore(foundations);
  const sessions = openSessions(core);
  const tenants: TenantDirectory = openTenants(core, sessions, async (budgets) => {
    await usage.budgetLimits.look(budgets, core.clock.now());
  });
  const identity = await openIdentity(core);
  const adminsOf: AdminsOf = (tenantId) =>
    addressesOf(tenantId === null ? core.config.operatorEmails : (tenants.tenant(tenantId)?.admins ?? []));
  const usage: OpenUsage = openUsage(core, { sessions, tenants, adminsOf });
  const serverTools = openServerTools(core, tenants);
  const bots = openBots(core, usage);
  const calls = openCalls(core, { sessions, usage, serverTools });
  const traces = openTraces(core);
  const hub = openHub(core, { identity, usage, sessions, calls, suspects: bots.suspects });
  const operators = openOperators(core, {
    tenants,
    identity,
    sessions,
    hub,
    hasCollector: traces?.hasCollector === true,
  });
  const webhooks = openWebhooks(core, adminsOf);
  const creates = openCreates({
    ...core,
    traces,
    bots: core.bots ?? bots.detector,
    suspects: bots.suspects,
    tenants,
    identity,
    usage,
    sessions,
    calls,
  });
  const services = {
    core,
    tenants,
    identity,
    usage,
    sessions,
    ...creates,
    suspects: bots.suspects,
    calls,
    bots,
    serverTools,
    webhooks,
    traces,
    operators,
    origins: createOrigins({ core, tenants }),
    readiness: createReadiness(operators.probes, core.isAccepting),
  };
  core.metrics.tellBuild(version);
  const reconciliation = openReconciliation({ ...core, store: core.stores.reconciliations });
  if (reconciliation !== undefined) tellDrift(reconciliation, core);
  return { ...services, hub, reconciliation, handle: createPipeline(allRoutes(services), services) };
}

function openSessions(core: Core): VoiceSessions {
  const { config, stores, live, events, journal, metrics } = core;
  const { trace, silence } = journal;
  const sessions = new VoiceSessions({ live, history: stores.history, limits: config.voice, events, trace, silence });
  metrics.observe('switchboard_sessions_held', 'Records in the live registry', () => live.registry.size());
  metrics.observe(
    'switchboard_history_waiting',
    'Records that wait for the database',
    () => sessions.recovery.writer.waiting.size,
  );
  const { beats } = sessions;
  if (beats !== undefined)
    metrics.observe(
      'switchboard_heartbeats_saved_later',
      'Heartbeats that this process has answered before it saved them',
      () => beats.taken,
    );
  return sessions;
}

function openHub(core: Core, neighbours: Pick<ChannelDeps, 'identity' | 'usage' | 'sessions' | 'calls' | 'suspects'>) {
  const hub = new Hub({ ...core, ...neighbours });
  core.metrics.observe('switchboard_sockets_attached', 'Sockets that are attached to a session', () => hub.attached);
  return hub;
}
