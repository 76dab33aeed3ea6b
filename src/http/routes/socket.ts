import { Refusal } from '../../protocol/refusal.ts';
import { addressScope } from '../../limits/edge.ts';
import { invalid } from '../invalid-request.ts';
import type { HttpRequest } from '../message.ts';
import { defineRoute, type Result, type Route } from '../route.ts';
import type { Origins } from '../steps/origin.ts';

/** The subprotocol of the heartbeat channel (docs/contract.md, section 7.1). */
export const SUBPROTOCOL = 'switchboard.v1';
export const SOCKET_PATH = '/api/realtime/socket';

/**
 * GET /api/realtime/socket: whether an upgrade may go on. Any page can open a WebSocket to anybody, so the Origin is checked
 * here, before the 101; a client without an Origin is no browser. The answer 101 tells the transport to upgrade.
 */
export function socketRoute({ origins }: { readonly origins: Origins }): Route {
  return defineRoute({
    kind: 'socket',
    method: 'GET',
    path: SOCKET_PATH,
    operationId: 'openSocket',
    summary: 'Open the heartbeat channel (WebSocket)',
    description: `Subprotocol ${SUBPROTOCOL}; frames are described in /asyncapi.json.`,
    tag: 'Voice sessions',
    access: 'proof',
    cors: 'widgets',
    replies: { 101: { description: 'Switching to WebSocket' } },
    refusals: ['ORIGIN_MISMATCH', 'RATE_LIMIT_EXCEEDED'],
    handle({ request, origin, ip }): Result {
      const { headers } = request;
      if (!isUpgrade(request)) return invalid('Open this address as a WebSocket (RFC 6455, version 13).');
      const offered = headers['sec-websocket-protocol']?.split(',').map((name) => name.trim()) ?? [];
      if (offered.length > 0 && !offered.includes(SUBPROTOCOL)) return invalid(`Offer the subprotocol ${SUBPROTOCOL}.`);
      if (origin !== undefined && !origins.isConsole(origin) && !origins.isWidget(origin))
        return new Refusal('ORIGIN_MISMATCH', 'No widget key and no console is bound to this origin.');
      return { status: 101, body: '', client: addressScope(ip) };
    },
  });
}

/**
 * RFC 6455 section 4.2.1, as strict as it is there: what passes here is also what the transport takes for an upgrade, so that
 * a 101 is never the answer to anything else.
 */
function isUpgrade({ method, headers }: HttpRequest): boolean {
  return (
    method === 'GET' &&
    hasToken(headers['connection'], 'upgrade') &&
    hasToken(headers['upgrade'], 'websocket') &&
    headers['sec-websocket-version'] === '13' &&
    /^[A-Za-z0-9+/]{22}==$/.test(headers['sec-websocket-key'] ?? '')
  );
}

function hasToken(list: string | undefined, token: string): boolean {
  return list?.split(',').some((name) => name.trim().toLowerCase() === token) === true;
}
