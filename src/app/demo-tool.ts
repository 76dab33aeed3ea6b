import type { Outbound, OutboundReply, OutboundRequest } from '../outbound/contract.ts';
import { type Clock, iso } from '../kernel/time.ts';

/** Address of the demo agent's tool (config/tenants.json): a name that never resolves (RFC 2606). */
const ADDRESS = 'https://museum.invalid/opening-hours';
const MONDAY = 1;

/**
 * Answers the demo's tool within this process, so that a newcomer needs no server: its request is signed like any other, but never sent.
 * Every other request goes through the guard as usual.
 */
export function withDemoTool(outbound: Outbound, clock: Clock): Outbound {
  return {
    ...outbound,
    request: async (request) =>
      request.url.href === ADDRESS ? openingHours(request, clock.now()) : outbound.request(request),
  };
}

function openingHours({ body = '{}' }: OutboundRequest, atMs: number): OutboundReply {
  const { data } = JSON.parse(body) as { readonly data?: { readonly arguments?: { readonly date?: string } } };
  const date = data?.arguments?.date ?? iso(atMs).slice(0, 10);
  const day = new Date(`${date}T12:00:00Z`).getUTCDay();
  const hours = day === MONDAY ? { closed: true } : { opens: '10:00', closes: '18:00' };
  const answer = Number.isNaN(day) ? { error: 'date must be YYYY-MM-DD' } : { date, ...hours };
  return { status: 200, contentType: 'application/json', body: Buffer.from(JSON.stringify(answer)) };
}
