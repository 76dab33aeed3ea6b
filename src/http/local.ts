import { isLoopback } from '../../config/origins.ts';
import type { Call } from './route.ts';

/** Headers by which a proxy shows that it passes on somebody else's request. */
const forwarding = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip'];

/**
 * Whether a request comes from this machine, under a name that no other page can use (DNS rebinding). A proxy on this machine may bring
 * strangers without a word; that there is one shows in a public URL that is not this machine's, which is for the route to look at.
 */
export function isLocal({ request: { headers, peer } }: Pick<Call, 'request'>): boolean {
  const isNear = peer === '::1' || peer.startsWith('127.');
  return isNear && isLoopback(`http://${headers['host']}`) && forwarding.every((name) => headers[name] === undefined);
}
