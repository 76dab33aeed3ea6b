import type { Route } from '../http/route.ts';
import { activityRoute, overviewRoute } from './overview/routes.ts';
import { callRoute, callsRoute, namedCallRoute } from './calls/routes.ts';
import { changesRoute } from './overview/changes-routes.ts';
import { endManyRoute, endRoute } from './sessions/end-routes.ts';
import { eventsRoute, sessionRoute, whisperRoute } from './sessions/routes.ts';
import { feedRoute, meRoute, nodesRoute, settingsRoute } from './installation/routes.ts';
import { exportSessionsRoute, exportUsageRoute } from './exports/routes.ts';
import { machinesRoute } from './machines/routes.ts';
import { reconciliationRoute } from './reconciliation/routes.ts';
import { refusalsRoute } from './refusals/routes.ts';
import { liftAddressRoute, loginRoute, loginsRoute, revokeLoginRoute } from './logins/routes.ts';
import { auditRoute } from './audit/routes.ts';
import { challengeRoute, challengesRoute } from './logins/challenge-routes.ts';
import { issueKeyRoute, keysRoute, pauseKeyRoute, revokeKeyRoute } from './keys/routes.ts';
import { budgetsRoute, changeBudgetRoute, deleteBudgetRoute, makeBudgetRoute } from './budgets/routes.ts';
import { deleteSecretRoute, secretsRoute, setSecretRoute, signingSecretRoute } from './secrets/routes.ts';
import { searchRoute } from './search/routes.ts';
import { resumeRoute, stopRoute, stopsRoute } from './stops/routes.ts';
import { whatIfRoute } from './what-if/routes.ts';
import { deleteViewRoute, saveViewRoute, viewsRoute } from './views/routes.ts';
import { usageRoute } from './usage/routes.ts';
import {
  addWebhookRoute,
  changeWebhookRoute,
  deleteWebhookRoute,
  rotateWebhookRoute,
  tryWebhookRoute,
  turnWebhookRoute,
  webhookRoute,
  webhooksRoute,
} from './webhooks/routes.ts';
import {
  deliveriesRoute,
  deliveryRoute,
  replayManyRoute,
  replayRoute,
  sessionDeliveriesRoute,
} from './webhooks/delivery-routes.ts';
import { sessionsRoute } from './sessions/list-routes.ts';
import type { Services } from '../http/services.ts';

/** The operator API for monitoring (docs/contract.md, section 8). */
export function operatorRoutes(services: Services): Route[] {
  return [
    overviewRoute(services),
    activityRoute(services),
    sessionsRoute(services),
    sessionRoute(services),
    eventsRoute(services),
    callRoute(services),
    callsRoute(services),
    namedCallRoute(services),
    endRoute(services),
    whisperRoute(services),
    usageRoute(services),
    exportSessionsRoute(services),
    exportUsageRoute(services),
    reconciliationRoute(services),
    whatIfRoute(services),
    refusalsRoute(services),
    nodesRoute(services),
    changesRoute(services),
    machinesRoute(services),
    feedRoute(services),
    endManyRoute(services),
    auditRoute(services),
    keysRoute(services),
    issueKeyRoute(services),
    revokeKeyRoute(services),
    pauseKeyRoute(services, 'pause'),
    pauseKeyRoute(services, 'resume'),
    secretsRoute(services),
    setSecretRoute(services),
    signingSecretRoute(services),
    deleteSecretRoute(services),
    loginsRoute(services),
    loginRoute(services),
    revokeLoginRoute(services),
    liftAddressRoute(services),
    challengesRoute(services),
    challengeRoute(services),
    meRoute(services),
    settingsRoute(services),
    searchRoute(services),
    viewsRoute(services),
    saveViewRoute(services),
    deleteViewRoute(services),
    budgetsRoute(services),
    makeBudgetRoute(services),
    changeBudgetRoute(services),
    deleteBudgetRoute(services),
    stopsRoute(services),
    stopRoute(services),
    resumeRoute(services),
    webhooksRoute(services),
    webhookRoute(services),
    addWebhookRoute(services),
    changeWebhookRoute(services),
    deleteWebhookRoute(services),
    rotateWebhookRoute(services),
    tryWebhookRoute(services),
    turnWebhookRoute(services, 'enable'),
    turnWebhookRoute(services, 'disable'),
    deliveriesRoute(services),
    deliveryRoute(services),
    replayRoute(services),
    replayManyRoute(services),
    sessionDeliveriesRoute(services),
  ];
}
