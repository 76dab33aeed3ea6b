import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../../config/config.ts';
import { requireBrokering, requireBrokeringOf } from '../../../src/app/file-faults.ts';
import { createCallModes } from '../../../src/tenants/agents.ts';
import { TenantsFileError } from '../../../src/tenants/tenants-file.ts';
import { FakeProvider } from '../../support/fake-provider.ts';
import { aKey, aTenant } from '../tenants/fakes.ts';

const brokering = new FakeProvider({ call: 'brokered', isSimulated: false });
const simulated = new FakeProvider({ call: 'brokered' });
const minting = new FakeProvider({ call: 'token', isSimulated: false });
const modes = ['direct', 'brokered', undefined] as const;

describe('The calls of a session', () => {
  test.each(['direct', 'brokered'] as const)(
    'use the requested mode, otherwise CALL_MODE=%s, if both are possible',
    (mode) => {
      expect(modes.map(createCallModes(mode, brokering))).toEqual(['direct', 'brokered', mode]);
    },
  );

  test('are never brokered if they cannot be, and always for a simulation that can', () => {
    expect(modes.map(createCallModes('brokered', minting))).toEqual(['direct', 'direct', 'direct']);
    expect(modes.map(createCallModes('direct', simulated))).toEqual(['brokered', 'brokered', 'brokered']);
  });
});

describe('A request for brokered calls', () => {
  const config = (mode: 'direct' | 'brokered') => ({ calls: { mode } }) as Parameters<typeof requireBrokering>[0];
  const acme = aTenant('acme', {
    keys: [aKey('acme', 'site', { call: 'brokered' }), aKey('acme', 'other', { call: 'direct' })],
    agents: [{ id: 'support', call: 'brokered' }, { id: 'sales' }],
  });

  test('is accepted for a provider that has them, and no request for any', () => {
    for (const provider of [brokering, simulated]) {
      requireBrokering(config('brokered'), provider);
      requireBrokeringOf([acme], 'tenants.json', provider);
    }
    requireBrokering(config('direct'), minting);
    requireBrokeringOf([aTenant('plain', { keys: [aKey('plain', 'site')] })], 'tenants.json', minting);
  });

  test('for another provider is reported by the variable’s name', () => {
    expect(() => requireBrokering(config('brokered'), minting)).toThrow(ConfigError);
    expect(() => requireBrokering(config('brokered'), minting)).toThrow(
      /CALL_MODE: must not ask for brokered calls.*fake/,
    );
  });

  test('for another provider is reported for each key and agent of the tenants file', () => {
    const check = (): void => requireBrokeringOf([acme], 'tenants.json', minting);
    expect(check).toThrow(TenantsFileError);
    expect(check).toThrow(/key acme\/site: must not ask[^]*agent acme\/support: must not ask/);
    expect(check).not.toThrow(/acme\/(?:other|sales)/);
  });
});
