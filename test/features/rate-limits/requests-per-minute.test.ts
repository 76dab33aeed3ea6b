import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addressScope } from '../../../src/http/steps/rate-limit.ts';
import { ipv6Network } from '../../../src/kernel/addresses.ts';
import {
  edgeRefusal,
  edgeWindows,
  operatorWindow,
  tighter,
  type EdgeWindow,
} from '../../../src/rate-limits/requests-per-minute.ts';
import type { WindowCount } from '../../../src/stores/windows/contract.ts';
import { createInProcessWindows } from '../../../src/stores/in-process.ts';

const count = (fields: Partial<WindowCount>): WindowCount => ({
  allowed: true,
  remaining: 5,
  resetAtMs: 60_000,
  limit: 10,
  ...fields,
});

const { address } = edgeWindows({
  perIpPerMinute: 10,
  perUserPerMinute: 1,
  perOperatorPerMinute: 1,
  perPagePerMinute: 1,
});

describe('The tighter of two windows', () => {
  test('is the one with fewer requests left, the first when both have as many', () => {
    const [a, b] = [count({ remaining: 3 }), count({ remaining: 2 })];
    expect([tighter(a, b), tighter(b, a), tighter(a, count({ remaining: 3 }))]).toEqual([b, b, a]);
  });

  test('is the one that refuses, when only one does', () => {
    const [open, shut] = [count({ remaining: 0 }), count({ allowed: false, remaining: 0 })];
    expect([tighter(open, shut), tighter(shut, open)]).toEqual([shut, shut]);
  });
});

describe('A refusal by a window', () => {
  test('asks to wait until the window ends, in whole seconds and at least one', () => {
    const holds = fc.property(fc.integer({ min: 0, max: 61_000 }), (atMs) => {
      const { retryAfter = 0 } = edgeRefusal(address, count({ allowed: false }), atMs).additions;
      expect(retryAfter).toBe(Math.max(1, Math.ceil((60_000 - atMs) / 1000)));
    });
    fc.assert(holds);
  });
});

test('The refusal of an operator names the variable of operators, also by the window of one route', () => {
  const used = edgeRefusal(operatorWindow({ name: 'ends', perMinute: 60 }), count({ allowed: false }), 0);
  expect(used.why).toMatchObject({ layer: 'edge', limit: 60, lever: 'RATE_OPERATOR_PER_MIN' });
});

describe('Edge windows', () => {
  const edge = edgeWindows({ perIpPerMinute: 1, perUserPerMinute: 1, perOperatorPerMinute: 1, perPagePerMinute: 1 });

  function counting() {
    const windows = createInProcessWindows();
    return ({ prefix, perMinute }: EdgeWindow, name: string, atMs = 0) => windows.take(prefix + name, perMinute, atMs);
  }

  test('count addresses, users and operators apart', () => {
    const take = counting();
    const taken = [
      take(edge.address, '192.0.2.1'),
      take(edge.user, 'ada@example.com'),
      take(edge.address, '192.0.2.1'),
      take(edge.user, 'ada@example.com'),
      take(edge.operator, 'ada@example.com'),
      take(edge.operator, 'ada@example.com'),
      take(edge.user, 'ada@example.com', 60_000),
    ];
    expect(taken.map(({ allowed }) => allowed)).toEqual([true, true, false, false, true, false, true]);
  });

  test('are no two the same, also for one name', () => {
    const take = counting();
    const { networks, ...others } = edge;
    const all = [
      ...Object.values<EdgeWindow>({ ...others }),
      ...networks,
      operatorWindow({ name: 'ends', perMinute: 1 }),
    ];
    const taken = all.map((window) => take(window, 'ada@example.com'));
    expect(taken.map(({ allowed, remaining }) => [allowed, remaining])).toEqual(
      all.map(({ perMinute }) => [true, perMinute - 1]),
    );
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

  test.each([
    ['2001:db8:1:2ff:3::1', 56, '2001:db8:1:200::/56'],
    ['2001:db8:1:3ff:3::1', 56, '2001:db8:1:300::/56'],
    ['2001:db8:1:2ff:3::1', 48, '2001:db8:1::/48'],
    ['2001:db8::1', 48, '2001:db8:0::/48'],
    ['192.0.2.1', 56, undefined],
  ])('the network of %s by %i bits is %s', (address, bits, network) => {
    expect(ipv6Network(address, bits)).toBe(network);
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
