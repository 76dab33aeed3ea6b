import { isIP, type BlockList } from 'node:net';
import { isLoopback } from '../kernel/addresses.ts';
import type { Call } from './route.ts';

/**
 * The client's address: the peer's, or behind trusted proxies the right-most untrusted hop of X-Forwarded-For
 * (docs/contract.md, section 1.2, TRUST_PROXY). A hop that is not an address stops the search at the last hop that was trusted.
 */
export function clientAddress(peer: string, forwardedFor: string, trusted: BlockList): string {
  if (!isTrusted(peer, trusted)) return peer;
  const hops = forwardedFor.split(',');
  let believed = peer;
  for (let i = hops.length - 1; i >= 0; i -= 1) {
    const hop = withoutPort((hops[i] ?? '').trim());
    if (isIP(hop) === 0) return believed;
    believed = unmapped(hop);
    if (!isTrusted(believed, trusted)) return believed;
  }
  return believed;
}

function isTrusted(address: string, trusted: BlockList): boolean {
  const family = isIP(address);
  return family !== 0 && trusted.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/** Turns an IPv4-mapped IPv6 address (RFC 4291 2.5.5.2), however it is spelled, into its IPv4 address. */
function unmapped(address: string): string {
  if (!/:ffff:/i.test(address)) return address;
  const { hostname } = new URL(`http://[${address.split('%', 1)[0]}]`);
  const [, high, low] = /^\[::ffff:([0-9a-f]+):([0-9a-f]+)\]$/.exec(hostname) ?? [];
  if (high === undefined || low === undefined) return address;
  const parts = [high, low].map((half) => Number.parseInt(half, 16)).flatMap((half) => [half >> 8, half & 255]);
  return parts.join('.');
}

/** Some proxies write `1.2.3.4:5678` or `[::1]:5678`. */
function withoutPort(hop: string): string {
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(hop);
  if (bracketed !== null) return bracketed[1] ?? '';
  const [host = '', ...rest] = hop.split(':');
  return rest.length === 1 ? host : hop;
}

/** Headers that show that a proxy forwarded the request. */
const forwarding = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip'];

/**
 * Whether a request comes from this machine, under a host name that no other page can use (DNS rebinding). A proxy on this machine may
 * forward strangers' requests without a forwarding header. Only a public URL that is not this machine's shows that there is such a proxy,
 * and the route must check that.
 */
export function isLocal({ request: { headers, peer } }: Pick<Call, 'request'>): boolean {
  const isNear = peer === '::1' || peer.startsWith('127.');
  return isNear && isLoopback(`http://${headers['host']}`) && forwarding.every((name) => headers[name] === undefined);
}
