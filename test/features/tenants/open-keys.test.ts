import { describe, expect, test } from 'vitest';
import { describeOpenKeys, warningsOf } from '../../../src/tenants/key-rules.ts';
import { aKey, aTenant } from './fakes.ts';

const bounded = { totals: { dollarsDaily: 5 } };
const closed = { ...bounded, allowOverrides: false, agents: ['guide'] };

describe('What makes a key open', () => {
  test.each([
    ['overrides', { allowOverrides: true }, ['overrides']],
    ['no totals', { totals: {} }, ['no_totals']],
    ['totals that bound no day', { totals: { concurrentSessions: 5, sessionsPerMinute: 5 } }, ['no_totals']],
    ['a day of tokens', { totals: { tokensDaily: 5 } }, []],
    ['no agents', { agents: null }, ['any_agent']],
    ['all of that', { allowOverrides: true, totals: {}, agents: null }, ['overrides', 'no_totals', 'any_agent']],
    ['all of that, of a key that is revoked', { allowOverrides: true, totals: {}, agents: null, revokedAtMs: 1 }, []],
  ])('is told of %s', (_, more, warnings) => {
    expect(warningsOf(aKey('acme', 'site', { ...closed, ...more }), {})).toEqual(warnings);
  });

  test('is not the lack of totals where its tenant has a ceiling of the day', () => {
    const key = aKey('acme', 'site', { ...closed, totals: {} });
    expect(warningsOf(key, bounded)).toEqual([]);
    expect(warningsOf(key, { totals: { concurrentSessions: 9 } })).toEqual(['no_totals']);
  });

  test('is told of every key by its name, but of the demo’s on this machine', () => {
    const demo = { key: `w_demo_local_${'0'.repeat(32)}` };
    const tenants = [
      aTenant('acme', { keys: [aKey('acme', 'site', closed), aKey('acme', 'shop', { ...closed, agents: null })] }),
      aTenant('demo', { keys: [aKey('demo', 'local', { ...demo, origin: 'http://localhost:8080' })] }),
      aTenant('mine', {
        keys: [aKey('mine', 'local', { ...demo, ...closed, totals: {}, origin: 'https://x.example' })],
      }),
    ];
    expect(describeOpenKeys(tenants)).toEqual([
      'acme/shop: pages may ask for any agent, or for none',
      'mine/local: nothing bounds what all its visitors use in a day',
    ]);
  });
});
