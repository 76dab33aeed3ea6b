import { version } from '../../../config/version.ts';
import { describeRoutes } from '../openapi.ts';
import { createReadiness, type ReadinessDeps } from '../readiness.ts';
import type { Route } from '../route.ts';
import type { Origins } from '../steps/origin.ts';
import { callTicketRoute, type CallTicketDeps } from './call-ticket.ts';
import { createSessionRoute, type CreateSessionDeps } from './create-session.ts';
import { endSessionRoute } from './end-session.ts';
import { healthRoutes, type HealthDeps } from './health.ts';
import { heartbeatRoute } from './heartbeat.ts';
import { ownLoginRoutes, type OwnLoginsDeps } from './own-logins.ts';
import { loginRoutes, type LoginDeps } from './login.ts';
import { openCallRoute, type OpenCallDeps } from './open-call.ts';
import { operatorRoutes, type OperatorDeps } from './operator/all.ts';
import { inspectRoute } from './operator/inspect.ts';
import { pageRoutes, type PageDeps } from './pages.ts';
import { socketRoute } from './socket.ts';
import { reportUsageRoute, type ReportUsageDeps } from './report-usage.ts';

export type RouteDeps = CreateSessionDeps &
  OpenCallDeps &
  CallTicketDeps &
  ReportUsageDeps &
  LoginDeps &
  OwnLoginsDeps &
  Omit<HealthDeps, 'readiness'> &
  ReadinessDeps &
  OperatorDeps &
  PageDeps['demo'] &
  Pick<PageDeps, 'outbox' | 'asyncapi' | 'isProduction'> & {
    readonly origins: Origins;
    /** INSPECT. */
    readonly inspects: boolean;
  };

/** Every route of the service. */
export function routesOf(deps: RouteDeps): Route[] {
  const readiness = createReadiness(deps);
  const api = apiRoutes({ ...deps, readiness });
  const openapi = (): object => describeRoutes(api, version, deps.publicUrl());
  const inspected = deps.inspects ? [inspectRoute(deps)] : [];
  return [...inspected, ...api, ...pageRoutes({ ...deps, openapi, readiness, webDirectory, demo: deps })];
}

/** The OpenAPI document without a running service: only handlers use their deps, and nobody calls them here. */
export function apiDocument(serverUrl: string): object {
  return describeRoutes(apiRoutes({} as RouteDeps & HealthDeps), version, serverUrl);
}

function apiRoutes(deps: RouteDeps & HealthDeps): Route[] {
  return [
    createSessionRoute(deps),
    heartbeatRoute(deps),
    endSessionRoute(deps),
    socketRoute(deps),
    openCallRoute(deps),
    callTicketRoute(deps),
    reportUsageRoute(deps),
    ...loginRoutes(deps),
    ...ownLoginRoutes(deps),
    ...healthRoutes(deps),
    ...operatorRoutes(deps),
  ];
}

/** Beside the bundle after a build; the build's also when the sources run as they are. */
const webDirectory = new URL(import.meta.url.endsWith('.ts') ? '../../../dist/web/' : './web/', import.meta.url);
