import { BlockList, isIP } from 'node:net';

/** IPv4 ranges that are not public unicast: this host, private, shared, link-local, protocols, documentation, benchmarks, multicast, reserved. */
const SPECIAL_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];

/** All public unicast addresses of IPv6. Loopback, mapped IPv4, NAT64 (64:ff9b::/96), private and link-local addresses are outside it. */
const GLOBAL_V6 = ['2000::/3'];

/** Exceptions inside that range: protocols and Teredo, documentation, 6to4, which contains an IPv4 address, and documentation again. */
const SPECIAL_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

const specialV4 = blockList(SPECIAL_V4, 'ipv4');
const globalV6 = blockList(GLOBAL_V6, 'ipv6');
const specialV6 = blockList(SPECIAL_V6, 'ipv6');

/** Whether this is an address of the public internet; false for anything that is not an address. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !specialV4.check(address, 'ipv4');
  return version === 6 && globalV6.check(address, 'ipv6') && !specialV6.check(address, 'ipv6');
}

/** Whether the list contains the address; IPv4 written as IPv6 counts as IPv4. */
export function holds(list: BlockList, address: string): boolean {
  const version = isIP(address);
  return version !== 0 && list.check(address, version === 4 ? 'ipv4' : 'ipv6');
}

function blockList(subnets: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [address = '', bits] = subnet.split('/');
    list.addSubnet(address, Number(bits), family);
  }
  return list;
}
