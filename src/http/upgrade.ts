import type { Refusal } from '../protocol/refusal.ts';
import { invalid } from './invalid-request.ts';
import type { HttpRequest } from './message.ts';

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
