import type { FindRefusalDeps } from '../../../operator/journal/find-refusal.ts';
import type { Route } from '../../route.ts';
import { callRoute, type OperatorCallDeps } from './call.ts';
import { changesRoute, type ChangesDeps } from './changes.ts';
import { endRoute, type EndDeps } from './end.ts';
import { eventsRoute, type OperatorEventsDeps } from './events.ts';
import { nodesRoute, type NodesDeps } from './nodes.ts';
import { machinesRoute, type MachinesDeps } from './machines.ts';
import { feedRoute, type FeedRouteDeps } from './feed.ts';
import { overviewRoute, type OverviewDeps } from './overview.ts';
import { refusalsRoute } from './refusals.ts';
import { liftAddressRoute, type LiftAddressDeps } from './lift-address.ts';
import { auditRoute, type AuditDeps } from './audit.ts';
import { challengeRoute, challengesRoute, type ChallengesDeps } from './challenges.ts';
import { endManyRoute } from './end-many.ts';
import { issueKeyRoute, keysRoute, revokeKeyRoute, type KeysDeps } from './keys.ts';
import { loginRoute, loginsRoute, revokeLoginRoute, type LoginsDeps } from './logins.ts';
import { pauseKeyRoute, resumeKeyRoute } from './pause-key.ts';
import { meRoute, settingsRoute, type MeDeps } from './me.ts';
import type { SearchDeps } from './find.ts';
import { searchRoute } from './search.ts';
import { sessionRoute, type SessionDetailDeps } from './session.ts';
import { usageRoute, type OperatorUsageDeps } from './usage.ts';
import { sessionsRoute, type SessionListDeps } from './sessions.ts';

export type OperatorDeps = OverviewDeps &
  SessionListDeps &
  SessionDetailDeps &
  OperatorEventsDeps &
  OperatorCallDeps &
  EndDeps &
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
  LiftAddressDeps &
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
