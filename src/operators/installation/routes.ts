import { version } from '../../../config/build-info.ts';
import { addressesSeenBy, mayDo, type Operator, RIGHTS, seesTenant } from '../roles.ts';
import { iso } from '../../kernel/time.ts';
import { operatorMe, type OperatorMe, operatorSettings } from '../../protocol/operator/me.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { TAG, operatorRoute } from '../operator-route.ts';
import { type OperatorNode, operatorNodes } from '../../protocol/operator/node.ts';
import { FEED_PATH, FEED_SUBPROTOCOL } from '../../protocol/operator/feed.ts';
import { Refusal } from '../../protocol/refusal.ts';
import { readSessionCookie } from '../../auth/cookies.ts';
import { refuseUpgrade } from '../../http/routes/socket.ts';
import type { Services } from '../../http/services.ts';

/** The most names that are returned to choose from. */
const MAX_NAMES = 500;

export function meRoute(services: Services): Route {
  return operatorRoute({
    method: 'GET',
    path: '/api/operator/me',
    operationId: 'getOperator',
    summary: 'Get who you are, your role, and what you may do',
    reply: {
      description: 'Who you are and what you may do',
      schema: operatorMe,
      example: {
        email: 'ops@example.com',
        role: 'operator',
        tenants: '*',
        tenantNames: [{ id: 'acme', name: 'Acme' }],
        can: [...RIGHTS],
        now: '2030-01-01T12:00:00.000Z',
        timeZone: 'UTC',
        version,
        retention: { sessions: 0, usage: 400, events: 30, audit: 0 },
      },
    },
    handle: (call): OperatorMe => {
      const { actor, role, tenants } = call.operator;
      return {
        email: actor,
        // The pipeline admits no other role.
        role: role as OperatorMe['role'],
        tenants: tenants === '*' ? tenants : [...tenants],
        tenantNames: namesShown(call.operator, services.tenants),
        can: RIGHTS.filter((right) => mayDo(role, right)),
        now: iso(call.request.atMs),
        timeZone: services.core.config.quotaTimeZone,
        version,
        retention: { ...services.core.config.retentionDays },
      };
    },
  });
}

function namesShown(operator: Operator, directory: Services['tenants']): OperatorMe['tenantNames'] {
  return directory
    .all()
    .filter(({ id }) => seesTenant(operator, id))
    .map(({ id, name }) => ({ id, name }))
    .toSorted((one, other) => one.name.localeCompare(other.name, 'en'))
    .slice(0, MAX_NAMES);
}

export function settingsRoute(services: Services): Route {
  return operatorRoute({
    method: 'GET',
    path: '/api/operator/settings',
    operationId: 'getSettings',
    summary: 'List the variables of the node that answers, without secrets',
    right: 'see-installation',
    reply: {
      description: 'The variables',
      schema: operatorSettings,
      example: {
        settings: [
          { name: 'MAX_SESSION_MINUTES', value: '15', isSecret: false, isSet: false, default: '15' },
          { name: 'JWT_SECRET', value: null, isSecret: true, isSet: true, default: 'development: a random one' },
        ],
        differs: [],
        nodes: [{ id: 'Jm4c0Vb1T2yq8s5nXk9ZwA', host: 'voice-2', isSame: true }],
      },
    },
    handle: async (call) => {
      const nodes = services.core.nodes
        .list()
        .map(({ id, host, configHash }) => ({ id, host, isSame: configHash === services.operators.configHash }));
      const settings = services.core.config.shown.map((one) => ({
        ...one,
        value: addressesSeenBy(call.operator, one.value),
      }));
      return { settings, differs: services.core.nodes.differing(), nodes };
    },
  });
}

export const exampleNode: OperatorNode = {
  id: 'Jm4c0Vb1T2yq8s5nXk9ZwA',
  host: 'voice-2',
  pid: 1,
  version: '0.1.0',
  startedAt: '2029-12-29T12:00:00.000Z',
  seenAt: '2030-01-01T12:00:00.000Z',
  loopP99Ms: 4.1,
  rss: 220_200_960,
  sockets: 6801,
  historyWaiting: 41,
  eventsWaiting: 3,
  eventsDropped: 0,
  clockLeadMs: 0,
  configHash: '9c3b6e5f0a1d',
  dependencies: [
    { name: 'database', state: 'ok', latencyMs: 1.9, since: '2029-12-29T12:00:00.000Z', lastError: null },
    { name: 'registry', state: 'ok', latencyMs: 0.7, since: '2029-12-29T12:00:00.000Z', lastError: null },
    { name: 'mail', state: 'ok', latencyMs: null, since: '2029-12-29T12:00:00.000Z', lastError: null },
    { name: 'provider', state: 'ok', latencyMs: null, since: '2029-12-29T12:00:00.000Z', lastError: null },
  ],
};

/** The processes of the installation, from memory, so that it is answered during outages. */
export function nodesRoute({ core }: Services): Route {
  return operatorRoute({
    method: 'GET',
    path: '/api/operator/nodes',
    operationId: 'listNodes',
    summary: 'List the running processes, as each reported itself in the last 15 seconds',
    right: 'see-installation',
    reply: {
      description: 'The processes, in the order in which they started',
      schema: operatorNodes,
      example: { nodes: [exampleNode], differs: [], asOf: '2030-01-01T12:00:01.000Z' },
    },
    handle: (call) => ({ nodes: core.nodes.list(), differs: core.nodes.differing(), asOf: iso(call.request.atMs) }),
  });
}

/**
 * GET /api/operator/feed: decides whether an upgrade may proceed, without waiting (see `Route.kind`): a page must have a console origin,
 * and any other client a service token. The login of the cookie and its role are checked after the 101, before anything is sent.
 */
export function feedRoute({ origins, identity: { serviceOf } }: Services): Route {
  return defineRoute({
    kind: 'socket',
    method: 'GET',
    path: FEED_PATH,
    operationId: 'openFeed',
    summary: 'Open the feed of everything that happens on all nodes (WebSocket)',
    description: `Subprotocol ${FEED_SUBPROTOCOL}. Open it with the console cookie from a console origin, or without an Origin and with a service token.`,
    tag: TAG,
    access: 'proof',
    credentials: ['cookie', 'service'],
    replies: { 101: { description: 'Switching to WebSocket' } },
    refusals: ['AUTH_REQUIRED', 'ORIGIN_MISMATCH', 'RATE_LIMIT_EXCEEDED'],
    handle({ request, origin }) {
      const refusal = refuseUpgrade(request, FEED_SUBPROTOCOL);
      if (refusal !== undefined) return refusal;
      const { cookie, authorization } = request.headers;
      if (origin !== undefined && !origins.isConsole(origin))
        return new Refusal('ORIGIN_MISMATCH', 'A console login may only be used from the origins in CONSOLE_ORIGINS.');
      const service = (origin === undefined ? serviceOf(authorization) : undefined) ?? null;
      const token = (origin === undefined ? undefined : readSessionCookie(cookie)) ?? null;
      if (origin === undefined && service === null)
        return new Refusal('AUTH_REQUIRED', 'Send a service token, or open the feed from a page of the console.');
      return { status: 101, body: '', client: JSON.stringify({ service, token }) };
    },
  });
}
