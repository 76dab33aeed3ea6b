import type { Route } from '../../route.ts';
import { changesRoute, type ChangesDeps } from './changes.ts';
import { endRoute, type EndDeps } from './end.ts';
import { eventsRoute, type OperatorEventsDeps } from './events.ts';
import { nodesRoute, type NodesDeps } from './nodes.ts';
import { machinesRoute, type MachinesDeps } from './machines.ts';
import { feedRoute, type FeedRouteDeps } from './feed.ts';
import { overviewRoute, type OverviewDeps } from './overview.ts';
import { refusalsRoute, type RefusalListDeps } from './refusals.ts';
import { sessionRoute, type SessionDetailDeps } from './session.ts';
import { usageRoute, type OperatorUsageDeps } from './usage.ts';
import { sessionsRoute, type SessionListDeps } from './sessions.ts';

export type OperatorDeps = OverviewDeps &
  SessionListDeps &
  SessionDetailDeps &
  OperatorEventsDeps &
  EndDeps &
  OperatorUsageDeps &
  RefusalListDeps &
  NodesDeps &
  ChangesDeps &
  MachinesDeps &
  FeedRouteDeps;

/** The operator API for monitoring (docs/contract.md, section 8). */
export function operatorRoutes(deps: OperatorDeps): Route[] {
  return [
    overviewRoute(deps),
    sessionsRoute(deps),
    sessionRoute(deps),
    eventsRoute(deps),
    endRoute(deps),
    usageRoute(deps),
    refusalsRoute(deps),
    nodesRoute(deps),
    changesRoute(deps),
    machinesRoute(deps),
    feedRoute(deps),
  ];
}
