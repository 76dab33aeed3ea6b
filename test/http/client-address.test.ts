import { BlockList } from 'node:net';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clientAddress } from '../../src/http/client-address.ts';
import { addressScope } from '../../src/http/steps/rate-limit.ts';

const proxies = new BlockList();
proxies.addSubnet('10.0.0.0', 8, 'ipv4');
proxies.addSubnet('fd00::', 8, 'ipv6');

describe('The client’s address', () => {
  test.each([
    // [peer, X-Forwarded-For, the client]
    ['203.0.113.9', '192.0.2.1', '203.0.113.9'],
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
  ])('for the peer %s with X-Forwarded-For %s is %s', (peer, forwardedFor, client) => {
    expect(clientAddress(peer, forwardedFor, proxies)).toBe(client);
  });

  test('cannot be chosen by a client that is behind a trusted proxy, whatever it sends', () => {
    const holds = fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (sent) => {
      expect(clientAddress('10.0.0.1', `${sent}, 192.0.2.1`, proxies)).toBe('192.0.2.1');
      expect(clientAddress('203.0.113.9', sent, proxies)).toBe('203.0.113.9');
    });
    fc.assert(holds);
  });

  test('is found without a fault, whatever a proxy writes', () => {
    const holds = fc.property(fc.array(fc.oneof(fc.string(), fc.ipV4(), fc.ipV6(), fc.ipV4Extended())), (hops) => {
      expect(addressScope(clientAddress('10.0.0.1', hops.join(','), proxies))).toEqual(expect.any(String));
    });
    fc.assert(holds);
  });
});
