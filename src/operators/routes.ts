import type { FindRefusalDeps } from './journal/read.ts';
import type { Route } from '../http/route.ts';
import { callRoute, type OperatorCallDeps } from './calls/routes.ts';
import { type ChangesDeps, changesRoute } from './overview/changes-routes.ts';
import { endManyRoute, endRoute, type EndRouteDeps } from './sessions/end-routes.ts';
import { eventsRoute, type OperatorEventsDeps, type SessionDetailDeps, sessionRoute } from './sessions/routes.ts';
import {
  feedRoute,
  type FeedRouteDeps,
  type MeDeps,
  meRoute,
  type NodesDeps,
  nodesRoute,
  settingsRoute,
} from './installation/routes.ts';
import { type MachinesDeps, machinesRoute } from './machines/routes.ts';
import { type OverviewDeps, overviewRoute } from './overview/routes.ts';
import { refusalsRoute } from './refusals/routes.ts';
import {
  liftAddressRoute,
  type LiftAddressRouteDeps,
  loginRoute,
  type LoginsDeps,
  loginsRoute,
  revokeLoginRoute,
} from './logins/routes.ts';
import { type AuditDeps, auditRoute } from './audit/routes.ts';
import { challengeRoute, type ChallengesDeps, challengesRoute } from './logins/challenge-routes.ts';
import {
  issueKeyRoute,
  type KeysDeps,
  keysRoute,
  pauseKeyRoute,
  resumeKeyRoute,
  revokeKeyRoute,
} from './keys/routes.ts';
import type { SearchDeps } from './search/find.ts';
import { searchRoute } from './search/routes.ts';
import { type OperatorUsageDeps, usageRoute } from './usage/routes.ts';
import { type SessionListDeps, sessionsRoute } from './sessions/list-routes.ts';

export type OperatorDeps = OverviewDeps &
  SessionListDeps &
  SessionDetailDeps &
  OperatorEventsDeps &
  OperatorCallDeps &
  EndRouteDeps &
  OperatorUsageDeps &
  FindRefusalDeps &
  NodesDeps &
  ChangesDeps &
  MachinesDeps &
  FeedRouteDeps &
  AuditDeps &
  MeDeps &
  KeysDeps &
  LoginsDeps &
  LiftAddressRouteDeps &
  ChallengesDeps &
  SearchDeps;

/** The operator API for monitoring (docs/contract.md, section 8). */
export function operatorRoutes(deps: OperatorDeps): Route[] {
  return [
    overviewRoute(deps),
    sessionsRoute(deps),
    sessionRoute(deps),
    eventsRoute(deps),
    callRoute(deps),
    endRoute(deps),
    usageRoute(deps),
    refusalsRoute(deps),
    nodesRoute(deps),
    changesRoute(deps),
    machinesRoute(deps),
    feedRoute(deps),
    endManyRoute(deps),
    auditRoute(deps),
    keysRoute(deps),
    issueKeyRoute(deps),
    revokeKeyRoute(deps),
    pauseKeyRoute(deps),
    resumeKeyRoute(deps),
    loginsRoute(deps),
    loginRoute(deps),
    revokeLoginRoute(deps),
    liftAddressRoute(deps),
    challengesRoute(deps),
    challengeRoute(deps),
    meRoute(deps),
    settingsRoute(deps),
    searchRoute(deps),
  ];
}
