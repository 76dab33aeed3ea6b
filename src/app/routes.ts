import { version } from '../../config/version.ts';
import { describeRoutes } from '../http/openapi.ts';
import { createReadiness, type ReadinessDeps } from '../http/readiness.ts';
import type { Route } from '../http/route.ts';
import { apiRoutes, type ApiDeps } from '../http/routes/all.ts';
import { siteRoutes, type SiteDeps } from '../site/routes.ts';

export type RouteDeps = Omit<ApiDeps, 'readiness'> &
  ReadinessDeps &
  SiteDeps['demo'] &
  Pick<SiteDeps, 'outbox' | 'asyncapi' | 'isProduction'>;

/** Every route of the service: those of the API, and the site. */
export function routesOf(deps: RouteDeps): Route[] {
  const readiness = createReadiness(deps);
  const api = apiRoutes({ ...deps, readiness });
  const openapi = (): object => describeRoutes(api, version, deps.publicUrl());
  return [...api, ...siteRoutes({ ...deps, openapi, readiness, demo: deps })];
}
