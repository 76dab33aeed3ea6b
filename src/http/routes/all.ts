import { version } from '../../../config/build-info.ts';
import { describeRoutes } from '../openapi.ts';
import type { Route } from '../route.ts';
import type { Services } from '../services.ts';
import { agentRoute, challengeRoute } from './agent-and-challenge.ts';
import { callTicketRoute } from './call-ticket.ts';
import { createSessionRoute } from './create-session.ts';
import { endSessionRoute } from './end-session.ts';
import { healthRoutes } from './health.ts';
import { heartbeatRoute } from './heartbeat.ts';
import { loginRoutes } from './login.ts';
import { openCallRoute, openVendorCallRoute } from './open-call.ts';
import { operatorRoutes } from '../../operators/all-routes.ts';
import { inspectRoute } from '../../operators/machines/routes.ts';
import { rateSessionRoute } from './rate-session.ts';
import { socketRoute } from './socket.ts';
import { clientSecretsRoute, modelsRoute } from './vendor-paths/openai.ts';
import { liveKitTokenRoute, liveKitWebhookRoute } from './vendor-paths/livekit.ts';
import { reportUsageRoute } from './report-usage.ts';

/** Every route of the API: the documented ones, and where INSPECT is on, the one that XState's tools connect to. */
export function apiRoutes(services: Services): Route[] {
  const { core } = services;
  return [
    ...(core.config.inspect ? [inspectRoute(services)] : []),
    agentRoute(services),
    challengeRoute(services),
    createSessionRoute(services),
    heartbeatRoute(services),
    endSessionRoute(services),
    rateSessionRoute(services),
    socketRoute(services),
    openCallRoute(services),
    callTicketRoute(services),
    reportUsageRoute(services),
    clientSecretsRoute(services),
    openVendorCallRoute(services),
    modelsRoute(services),
    liveKitTokenRoute(services),
    liveKitWebhookRoute(services),
    ...loginRoutes(services),
    ...healthRoutes(services),
    ...operatorRoutes(services),
  ];
}

/** The routes without a running service, for their descriptions, which depend on no service. Their handlers must not be called. */
export function describedRoutes(): Route[] {
  return apiRoutes({
    core: { config: {}, stores: {}, journal: {} },
    identity: {},
    usage: {},
    operators: {},
  } as Services);
}

/** The OpenAPI document without a running service. */
export function apiDocument(serverUrl: string): object {
  return describeRoutes(describedRoutes(), version, serverUrl);
}
