import { BlockList } from 'node:net';
import { describe, expect, test } from 'vitest';
import { requireWebhookServers } from '../../../src/app/file-faults.ts';
import { aTenant } from '../tenants/fakes.ts';

const outbound = { allowCidrs: new BlockList(), allowPorts: [] };
const sealingKeys: [Buffer] = [Buffer.alloc(32)];
const tenants = (url: string) => [
  aTenant('acme', { webhooks: [{ id: 'billing', url, types: ['session.settled'], createdAtMs: 0 }] }),
];

describe('The webhooks of the tenants file', () => {
  test.each([
    ['http://hooks.acme.example/', 'development', sealingKeys, /webhook acme\/billing: has an address that must start/],
    ['https://127.0.0.1/', 'development', sealingKeys, /must have a name, not an IP address/],
    ['https://hooks.acme.example/', 'production', undefined, /cannot be sent to: .* SEALING_KEY/],
  ] as const)('are refused at %s in %s', (url, mode, keys, words) => {
    const config = { outbound, mode, sealingKeys: keys };
    expect(() => requireWebhookServers(tenants(url), 'tenants.json', config)).toThrow(words);
  });

  test('are taken where what they are told can be signed', () => {
    const config = { outbound, mode: 'production', sealingKeys } as const;
    expect(() => requireWebhookServers(tenants('https://hooks.acme.example/'), 'tenants.json', config)).not.toThrow();
  });
});
