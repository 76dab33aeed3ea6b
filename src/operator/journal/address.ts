import { createHmac } from 'node:crypto';
import { isIPv4, isIPv6 } from 'node:net';
import { ipv6Network } from '../../kernel/ip.ts';

/** The network of a caller's address, which names nobody: its /24, or its /48. Null for what is no address. */
export function networkOf(address: string): string | null {
  if (isIPv4(address)) return `${address.split('.').slice(0, 3).join('.')}.0/24`;
  const [bare = ''] = address.split('%', 1);
  return (isIPv6(bare) && ipv6Network(bare, 48)) || null;
}

/** Hashes addresses under the installation's key: who has only the hashes cannot try all addresses. */
export function createAddressHash(installationKey: Buffer): (address: string) => string {
  return (address) => createHmac('sha256', installationKey).update(`address ${address}`).digest('hex').slice(0, 16);
}
