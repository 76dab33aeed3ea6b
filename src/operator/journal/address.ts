import { createHmac } from 'node:crypto';
import { isIPv4, isIPv6 } from 'node:net';

/** The network of a caller's address, which names nobody: its /24, or its /48. Null for what is no address. */
export function networkOf(address: string): string | null {
  if (isIPv4(address)) return `${address.split('.').slice(0, 3).join('.')}.0/24`;
  const [bare = ''] = address.split('%', 1);
  if (!isIPv6(bare)) return null;
  const [head = '', tail] = bare.toLowerCase().split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0');
  const groups = [...left, ...(tail === undefined ? [] : zeros), ...right].slice(0, 3);
  return `${groups.map((group) => group.replace(/^0+(?=.)/, '')).join(':')}::/48`;
}

/** Hashes addresses under the installation's key: who has only the hashes cannot try all addresses. */
export function createAddressHash(installationKey: Buffer): (address: string) => string {
  return (address) => createHmac('sha256', installationKey).update(`address ${address}`).digest('hex').slice(0, 16);
}
