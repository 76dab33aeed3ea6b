import { preferredLanguage } from '../../protocol/error-translations/accept-language.ts';
import type { Language } from '../../protocol/error-translations/languages.ts';
import { Refusal } from '../../protocol/refusal.ts';
import { addressScope } from '../steps/rate-limit.ts';
import { defineRoute, type Result, type Route } from '../route.ts';
import type { Services } from '../services.ts';
import { invalid } from '../refusals.ts';
import type { HttpRequest } from '../message.ts';

/** The subprotocol of the heartbeat channel (docs/contract.md, section 7.1). */
export const SUBPROTOCOL = 'switchboard.v1';
export const SOCKET_PATH = '/api/realtime/socket';

/** What the socket is opened with. */
export interface SocketClient {
  /** The address or network under which the edge windows count. */
  readonly address: string;
  /** The language of the texts for end users in the socket's frames. */
  readonly language: Language;
}

/**
 * GET /api/realtime/socket: decides whether an upgrade may proceed. Any page can open a WebSocket to any server, so the Origin is checked
 * here, before the 101; a client without an Origin is not a browser. The answer 101 tells the transport to upgrade.
 */
export function socketRoute({ origins }: Pick<Services, 'origins'>): Route {
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
      const refusal = refuseUpgrade(request, SUBPROTOCOL);
      if (refusal !== undefined) return refusal;
      if (origin !== undefined && !origins.isConsole(origin) && !origins.directory.widgetOrigins.has(origin))
        return new Refusal('ORIGIN_MISMATCH', 'No widget key and no console is bound to this origin.');
      const client: SocketClient = {
        address: addressScope(ip),
        language: preferredLanguage(request.headers['accept-language']),
      };
      return { status: 101, body: '', client: JSON.stringify(client) };
    },
  });
}

/** Why a request cannot become a WebSocket of the subprotocol; undefined when it can. A client may offer no subprotocol. */
export function refuseUpgrade(request: HttpRequest, subprotocol: string): Refusal | undefined {
  if (!isUpgrade(request)) return invalid('Open this address as a WebSocket (RFC 6455, version 13).');
  const offered = request.headers['sec-websocket-protocol']?.split(',').map((name) => name.trim()) ?? [];
  return offered.length > 0 && !offered.includes(subprotocol)
    ? invalid(`Offer the subprotocol ${subprotocol}.`)
    : undefined;
}

/**
 * RFC 6455 section 4.2.1, just as strict: whatever passes here is also an upgrade for the transport, so that a 101 never answers
 * anything else.
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
