import { version } from '../../../config/version.ts';
import { describeRoutes } from '../openapi.ts';
import type { Route } from '../route.ts';
import type { Services } from '../services.ts';
import { callTicketRoute } from './call-ticket.ts';
import { createSessionRoute } from './create-session.ts';
import { endSessionRoute } from './end-session.ts';
import { healthRoutes } from './health.ts';
import { heartbeatRoute } from './heartbeat.ts';
import { ownLoginRoutes } from './own-logins.ts';
import { loginRoutes } from './login.ts';
import { openCallRoute } from './open-call.ts';
import { operatorRoutes, type OperatorDeps } from '../../operators/routes.ts';
import { inspectRoute } from '../../operators/machines/routes.ts';
import { socketRoute } from './socket.ts';
import { reportUsageRoute } from './report-usage.ts';

/** Every route of the API: described ones, and where it is on the one that XState's tools listen at. */
export function apiRoutes(services: Services): Route[] {
  const { core } = services;
  return [
    ...(core.config.inspect ? [inspectRoute(core)] : []),
    createSessionRoute(services),
    heartbeatRoute(services),
    endSessionRoute(services),
    socketRoute(services),
    openCallRoute(services),
    callTicketRoute(services),
    reportUsageRoute(services),
    ...loginRoutes(services),
    ...ownLoginRoutes(services),
    ...healthRoutes(services),
    ...operatorRoutes(operatorDeps(services)),
  ];
}

/** The services under the names that the routes for operators know them by. */
function operatorDeps(services: Services): OperatorDeps {
  const { core, tenants, identity, usage, operators } = services;
  const { config, stores, journal } = core;
  return {
    ...services,
    ...identity,
    ...usage,
    ...operators,
    ...journal,
    ...stores,
    calls: services.calls,
    logins: identity.logins,
    events: core.events,
    directory: tenants,
    loginStore: stores.logins,
    challengeStore: stores.challenges,
    setups: stores.sessionSetups,
    callLimits: config.calls,
    heartbeatIntervalSec: config.heartbeatIntervalSec,
    timeZone: config.quotaTimeZone,
    retentionDays: config.retentionDays,
    shownSettings: config.shown,
  };
}

/** The routes without a running service: what they say of themselves depends on no service, and nobody calls their handlers here. */
export function describedRoutes(): Route[] {
  return apiRoutes({ core: { config: {}, stores: {} }, identity: {} } as Services);
}

/** The OpenAPI document without a running service. */
export function apiDocument(serverUrl: string): object {
  return describeRoutes(describedRoutes(), version, serverUrl);
}
