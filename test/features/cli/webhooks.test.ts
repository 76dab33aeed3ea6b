import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { newEndpoint } from '../../../machines/webhook-endpoint/selectors.ts';
import { run, type WebhookStores } from '../../../src/cli/webhooks.ts';
import { createSealer } from '../../../src/kernel/seal.ts';
import type { SealedSecret, TenantSecrets } from '../../../src/stores/tenant-secrets/contract.ts';
import type { WebhookEndpoint } from '../../../src/stores/webhooks/contract.ts';
import { FakeActs } from '../tenants/fakes.ts';
import { fakeTerminal } from './terminal.ts';

function build(...endpoints: readonly Pick<WebhookEndpoint, 'id' | 'tenantId'>[]) {
  const acts = new FakeActs();
  const kept: SealedSecret[] = [];
  const secrets: Pick<TenantSecrets, 'find' | 'insert'> = {
    find: async (tenantId, name) => kept.filter((one) => one.tenantId === tenantId && one.name === name),
    insert: async (secret) => kept.unshift(secret) > 0,
  };
  const stores: WebhookStores = {
    secrets: secrets as TenantSecrets,
    acts,
    sealer: createSealer([randomBytes(32)], 'test'),
    webhooks: {
      async find(id) {
        const found = endpoints.find((one) => one.id === id);
        const rest = { url: 'https://hooks.example.com/', types: [], createdAtMs: 0, createdBy: 'file' };
        return found && { ...newEndpoint(id), ...rest, ...found };
      },
    },
    close: () => Promise.resolve(),
  };
  return { terminal: { ...fakeTerminal(), openStores: () => Promise.resolve(stores) }, acts, kept };
}

describe('webhooks secret', () => {
  test.each([
    ['as the file names it', 'acme:billing', 'billing'],
    ['by its id', 'wh_1', 'wh_1'],
  ])('makes a secret for a webhook that is named %s, and prints it once', async (_, id, name) => {
    const { terminal, acts, kept } = build({ id, tenantId: 'acme' });
    expect(await run(['secret', '--tenant', 'acme', '--id', name, '--reason', 'new server'], terminal)).toBe(0);
    expect(terminal.printed()).toMatch(/^whsec_[\w+/]{43}=\n$/);
    expect(kept).toMatchObject([{ tenantId: 'acme', name: `:webhook:${id}`, version: 1 }]);
    expect(acts.rows).toMatchObject([{ action: 'webhook.rotate', actor: 'cli', target: id, result: 'done' }]);
  });

  test('makes none for the webhook of another tenant, or for one that is not there', async () => {
    const { terminal, kept } = build({ id: 'wh_1', tenantId: 'globex' });
    expect(await run(['secret', '--tenant', 'acme', '--id', 'wh_1'], terminal)).toBe(1);
    expect(await run(['secret', '--tenant', 'globex', '--id', 'wh_2'], terminal)).toBe(1);
    expect(terminal.complained()).toContain('There is no webhook of this id');
    expect(kept).toEqual([]);
  });

  test.each([[[]], [['secret']], [['secret', '--tenant', 'acme']], [['list']], [['secret', '--all']]])(
    'does not understand %j',
    async (args) => {
      const { terminal } = build();
      expect(await run(args, terminal)).toBe(64);
      expect(terminal.complained()).toContain('webhooks secret --tenant T --id ID');
    },
  );
});
