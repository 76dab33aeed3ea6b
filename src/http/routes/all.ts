import { version } from '../../../config/version.ts';
import { describeChannel } from '../../channel/asyncapi.ts';
import { describeRoutes } from '../openapi.ts';
import type { Route } from '../route.ts';
import type { Origins } from '../steps/origin.ts';
import { createSessionRoute, type CreateSessionParts } from './create-session.ts';
import { endSessionRoute } from './end-session.ts';
import { healthRoutes, type HealthParts } from './health.ts';
import { heartbeatRoute } from './heartbeat.ts';
import { loginRoutes, type LoginParts } from './login.ts';
import { operatorRoutes, type OperatorParts } from './operator.ts';
import { pageRoutes, type PageParts } from './pages.ts';
import { SOCKET_PATH, socketRoute, SUBPROTOCOL } from './socket.ts';
import { reportUsageRoute, type ReportUsageParts } from './report-usage.ts';

export type RouteParts = CreateSessionParts &
  ReportUsageParts &
  LoginParts &
  HealthParts &
  OperatorParts &
  Pick<PageParts, 'outbox'> & { readonly origins: Origins };

/** Every route of the service. */
export function routesOf(parts: RouteParts): Route[] {
  const api = apiRoutes(parts);
  const openapi = (): object => describeRoutes(api, version, parts.publicUrl());
  const asyncapi = (): object =>
    describeChannel({ serverUrl: parts.publicUrl(), path: SOCKET_PATH, subprotocol: SUBPROTOCOL }, version);
  return [...api, ...pageRoutes({ openapi, asyncapi, webDirectory, outbox: parts.outbox, demo: parts })];
}

/** The OpenAPI document without a running service: only handlers use their parts, and nobody calls them here. */
export function apiDocument(serverUrl: string): object {
  return describeRoutes(apiRoutes({} as RouteParts), version, serverUrl);
}

function apiRoutes(parts: RouteParts): Route[] {
  return [
    createSessionRoute(parts),
    heartbeatRoute(parts),
    endSessionRoute(parts),
    socketRoute(parts),
    reportUsageRoute(parts),
    ...loginRoutes(parts),
    ...healthRoutes(parts),
    ...operatorRoutes(parts),
  ];
}

/** Beside the bundle after a build; the build's also when the sources run as they are. */
const webDirectory = new URL(import.meta.url.endsWith('.ts') ? '../../../dist/web/' : './web/', import.meta.url);
