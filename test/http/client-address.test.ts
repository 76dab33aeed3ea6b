import { BlockList } from 'node:net';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addressScope, clientAddress } from '../../src/http/client-address.ts';

const proxies = new BlockList();
proxies.addSubnet('10.0.0.0', 8, 'ipv4');
proxies.addSubnet('fd00::', 8, 'ipv6');

describe('The client’s address', () => {
  test.each([
    // [peer, X-Forwarded-For, the client]
    ['203.0.113.9', undefined, '203.0.113.9'],
    ['203.0.113.9', '192.0.2.1', '203.0.113.9'],
    ['10.0.0.1', undefined, '10.0.0.1'],
    ['10.0.0.1', '192.0.2.1', '192.0.2.1'],
    ['10.0.0.1', '198.51.100.66, 192.0.2.1', '192.0.2.1'],
    ['10.0.0.1', '198.51.100.66, 192.0.2.1, 10.9.9.9', '192.0.2.1'],
    ['10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['10.0.0.1', '192.0.2.1,10.0.0.2,', '10.0.0.1'],
    ['10.0.0.1', '', '10.0.0.1'],
    ['10.0.0.1', 'unknown', '10.0.0.1'],
    ['10.0.0.1', '192.0.2.1, unknown, 10.0.0.2', '10.0.0.2'],
    ['10.0.0.1', '  192.0.2.1  ', '192.0.2.1'],
    ['10.0.0.1', '192.0.2.1:5678', '192.0.2.1'],
    ['10.0.0.1', '[2001:db8::7]:5678', '2001:db8::7'],
    ['10.0.0.1', '[2001:db8::7]', '2001:db8::7'],
    ['10.0.0.1', '2001:db8::7', '2001:db8::7'],
    ['10.0.0.1', '::ffff:192.0.2.1', '192.0.2.1'],
    ['10.0.0.1', '::FFFF:192.0.2.1', '192.0.2.1'],
    ['10.0.0.1', '::ffff:c000:201', '192.0.2.1'],
    ['10.0.0.1', '0:0:0:0:0:ffff:c000:0201', '192.0.2.1'],
    ['10.0.0.1', '198.51.100.66, ::ffff:10.0.0.2', '198.51.100.66'],
    ['10.0.0.1', '2001:db8:0:ffff:1::2', '2001:db8:0:ffff:1::2'],
    ['fd00::1', 'fe80::1%eth0', 'fe80::1%eth0'],
    ['fd00::1', '192.0.2.1', '192.0.2.1'],
    ['10.0.0.1', '192.0.2.256', '10.0.0.1'],
    ['10.0.0.1', '0x7f.1', '10.0.0.1'],
    ['10.0.0.1', "' or 1=1 --", '10.0.0.1'],
    ['', '192.0.2.1', ''],
  ])('of the peer %s with X-Forwarded-For %s is %s', (peer, forwardedFor, client) => {
    expect(clientAddress(peer, forwardedFor, proxies)).toBe(client);
  });

  test('cannot be chosen by a client that is behind a trusted proxy, whatever it sends', () => {
    const holds = fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (sent) => {
      expect(clientAddress('10.0.0.1', `${sent}, 192.0.2.1`, proxies)).toBe('192.0.2.1');
      expect(clientAddress('203.0.113.9', sent, proxies)).toBe('203.0.113.9');
    });
    fc.assert(holds);
  });

  test('never fails, whatever a proxy writes', () => {
    const holds = fc.property(fc.array(fc.oneof(fc.string(), fc.ipV4(), fc.ipV6(), fc.ipV4Extended())), (hops) => {
      expect(addressScope(clientAddress('10.0.0.1', hops.join(','), proxies))).toEqual(expect.any(String));
    });
    fc.assert(holds);
  });
});

describe('The scope of the window per address', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8:0:0:ffff::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ])('of %s is %s', (address, scope) => {
    expect(addressScope(address)).toBe(scope);
  });

  test('is one for all addresses of a /64, and another for the next /64', () => {
    const group = fc.integer({ min: 0, max: 0xffff }).map((value) => value.toString(16));
    const host = fc.array(group, { minLength: 4, maxLength: 4 });
    const holds = fc.property(fc.array(group, { minLength: 4, maxLength: 4 }), host, host, (net, a, b) => {
      const scope = addressScope([...net, ...a].join(':'));
      expect(addressScope([...net, ...b].join(':'))).toBe(scope);
      const last = (Number.parseInt(net[3] ?? '0', 16) + 1) % 0x10000;
      expect(addressScope([...net.slice(0, 3), last.toString(16), ...a].join(':'))).not.toBe(scope);
    });
    fc.assert(holds);
  });
});
