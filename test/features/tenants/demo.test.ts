import { describe, expect, test } from 'vitest';
import type { WidgetKey } from '../../../src/stores/tenants/contract.ts';
import { bindDemo, findDemoKey, placeDemo, withoutDemo, type DemoKeyUse } from '../../../src/tenants/demo.ts';
import { readTenantsDocument } from '../../../src/tenants/tenants-file.ts';
import { aKey, aTenant } from './fakes.ts';

const { tenants: shipped, budgets } = await readTenantsDocument('config/tenants.json', 0);

function origins(publicUrl: string): string[] {
  return bindDemo(shipped, publicUrl).flatMap(({ keys }) => keys.map(({ origin }) => origin));
}

describe('The shipped tenants file', () => {
  test('is valid and has an agent with a tool of the server and the documented key', () => {
    const [demo] = shipped;
    expect(demo?.keys[0]).toMatchObject({ key: `w_demo_local_${'0'.repeat(32)}`, origin: 'http://localhost:3000' });
    expect(demo?.agents[0]?.tools?.[0]?.kind).toBe('server_tool');
  });

  test.each([
    ['http://localhost:3000', ['http://localhost:3000', 'http://127.0.0.1:3000']],
    ['http://localhost:8123', ['http://localhost:8123', 'http://127.0.0.1:8123']],
    ['http://127.0.0.1:8123/', ['http://127.0.0.1:8123', 'http://localhost:8123']],
    ['https://demo.example.com', ['https://demo.example.com', 'http://127.0.0.1:3000']],
  ])('works in development at %s', (publicUrl, expected) => {
    // Each of the demo's two pages has a key for each address.
    expect(origins(publicUrl)).toEqual([...expected, ...expected]);
  });

  test('has no key that works in production', () => {
    expect(withoutDemo(shipped, 'https://voice.example.com')).toEqual([]);
  });

  test('has none that works in production after a development server bound it, and left it in the database', () => {
    for (const publicUrl of ['http://localhost:8123', 'http://127.0.0.1:8123'])
      expect(withoutDemo(bindDemo(shipped, publicUrl), 'https://voice.example.com')).toEqual([]);
  });

  test('has none that works in production under the address that a development server had before', () => {
    const publicUrl = 'https://voice.example.com';
    expect(withoutDemo(bindDemo(shipped, publicUrl), publicUrl)).toEqual([]);
  });

  test.each([
    ['production', 'http://localhost:8123', 'embedded', false],
    ['production', 'https://voice.example.com', 'postgres', false],
    ['development', 'http://localhost:8123', 'embedded', true],
    ['development', 'http://localhost:8123', 'postgres', true],
    ['development', 'https://voice.example.com', 'embedded', true],
    // Production may later use the same database, and could not tell this key from one that is meant for it.
    ['development', 'https://voice.example.com', 'postgres', false],
    ['test', 'https://voice.example.com', 'postgres', false],
  ] as const)('in %s at %s with an %s database goes into it: %4$s', (mode, publicUrl, database, goesIn) => {
    const placed = placeDemo(shipped, { mode, publicUrl, database });
    expect(placed).toEqual(goesIn ? bindDemo(shipped, publicUrl) : []);
  });

  test('gives whoever takes a page over a key that is small, locked and of one agent', () => {
    const taken = shipped.flatMap(({ keys }) => keys).filter(({ id }) => id.startsWith('take-over'));
    expect(taken).toHaveLength(2);
    for (const key of taken)
      expect(key).toMatchObject({
        agents: ['guide'],
        allowOverrides: false,
        dataChannel: 'none',
        limits: { dailyDollars: 0.05 },
        totals: { dollarsDaily: 5 },
      });
    expect(budgets.map(({ of, period, microMinutes }) => [of, period, microMinutes])).toEqual(
      taken.map(({ id }) => [`key:${id}`, 'session', 1_000_000]),
    );
  });

  test('offers the key of the page that asks, unless it is revoked', () => {
    const keys = bindDemo(shipped, 'http://localhost:8123').flatMap((tenant) => tenant.keys);
    const offered = (given: readonly WidgetKey[], origin: string, use?: DemoKeyUse): string | undefined => {
      const entries = given.map((key) => [key.key, { key }] as const);
      const directory = new Map<string, { readonly key: WidgetKey }>(entries);
      return findDemoKey({ keyOf: (key) => directory.get(key) }, origin, use)?.key.id;
    };
    expect(offered(keys, 'http://127.0.0.1:8123', 'take-over')).toBe('take-over-loopback');
    expect(offered(keys.slice(0, 2), 'http://127.0.0.1:8123', 'take-over')).toBeUndefined();
    expect(offered(keys, 'http://127.0.0.1:8123')).toBe('loopback');
    expect(offered(keys, 'http://192.0.2.7:8123')).toBe('local');
    const revoked = keys.map((key) => (key.id === 'local' ? { ...key, revokedAtMs: 1 } : key));
    expect(offered(revoked, 'http://localhost:8123')).toBe('loopback');
    expect(offered([], 'http://localhost:8123')).toBeUndefined();
  });
});

describe('Keys and tenants of others', () => {
  const edited = aTenant('demo', { keys: [aKey('demo', 'local', { key: `w_demo_local_${'0'.repeat(32)}` })] });
  const others = [
    edited,
    aTenant('acme', { keys: [aKey('acme', 'dev', { origin: 'http://localhost:3000' })] }),
    aTenant('bare'),
  ];

  test('keep their origins, a demo key that was bound elsewhere included', () => {
    expect(bindDemo(others, 'http://localhost:8123')).toEqual(others);
    expect(withoutDemo(others, 'https://voice.example.com')).toEqual(others);
  });
});
