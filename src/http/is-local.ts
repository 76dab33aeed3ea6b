import { isLoopback } from '../../config/origins.ts';
import type { Call } from './route.ts';

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
