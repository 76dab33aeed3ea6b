import { version } from '../../../config/version.ts';
import { describeRoutes } from '../openapi.ts';
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
import { operatorRoutes, type OperatorDeps } from '../../operators/routes.ts';
import { inspectRoute } from '../../operators/machines/routes.ts';
import { socketRoute } from './socket.ts';
import { reportUsageRoute, type ReportUsageDeps } from './report-usage.ts';

export type ApiDeps = CreateSessionDeps &
  OpenCallDeps &
  CallTicketDeps &
  ReportUsageDeps &
  LoginDeps &
  OwnLoginsDeps &
  HealthDeps &
  OperatorDeps & {
    readonly origins: Origins;
    /** Whether tools that watch the machines may attach (the variable INSPECT). */
    readonly inspects: boolean;
  };

/** Every route of the API: described ones, and where it is on the one that XState's tools listen at. */
export function apiRoutes(deps: ApiDeps): Route[] {
  return [
    ...(deps.inspects ? [inspectRoute(deps)] : []),
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

/** The OpenAPI document without a running service: only handlers use their deps, and nobody calls them here. */
export function apiDocument(serverUrl: string): object {
  return describeRoutes(apiRoutes({} as ApiDeps), version, serverUrl);
}
