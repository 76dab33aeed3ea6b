import { describe, expect, test } from 'vitest';
import { randomId } from '../../src/kernel/ids.ts';
import type { SealedSecret, TenantSecrets } from '../../src/stores/tenant-secrets/contract.ts';
import { atOnce, DAY_BEGIN, nodesOf, RACERS, type Make } from './support.ts';

function aSecret(changes: Partial<SealedSecret> = {}): SealedSecret {
  const usual = { name: 'crm', version: 1, createdAtMs: DAY_BEGIN, createdBy: 'ops@example.com' };
  return { tenantId: randomId(), sealed: Buffer.from([0, 1, 255]), ...usual, ...changes };
}

function told({ tenantId, name, version, createdAtMs, createdBy }: SealedSecret): object {
  return { tenantId, name, version, createdAtMs, createdBy };
}

export function tenantSecretsContract(name: string, make: Make<TenantSecrets>): void {
  describe(`secrets of tenants, ${name}`, () => {
    const secrets = nodesOf(make);

    test('a secret is found as it was kept, on every node, and under its own name alone', async () => {
      const secret = aSecret();
      expect(await secrets().insert(secret)).toBe(true);
      expect(await secrets().find(secret.tenantId, 'crm')).toEqual([secret]);
      expect(await secrets().find(secret.tenantId, 'other')).toEqual([]);
      expect(await secrets().find(randomId(), 'crm')).toEqual([]);
    });

    test('a new version keeps the one before it and no older one', async () => {
      const first = aSecret();
      const [second, third] = [2, 3].map((version) => ({ ...first, version, sealed: Buffer.from([version]) }));
      for (const secret of [first, second, third]) expect(await secrets().insert(secret as SealedSecret)).toBe(true);
      expect(await secrets().find(first.tenantId, 'crm')).toEqual([third, second]);
    });

    test('of concurrent writes of one version exactly one succeeds', async () => {
      const tenantId = randomId();
      const inserted = await atOnce(RACERS, (racer) =>
        secrets().insert(aSecret({ tenantId, sealed: Buffer.from([racer]) })),
      );
      expect(inserted.filter(Boolean)).toHaveLength(1);
      expect(await secrets().find(tenantId, 'crm')).toMatchObject([{ sealed: Buffer.from([inserted.indexOf(true)]) }]);
    });

    test('a version cannot follow one that does not exist', async () => {
      const secret = aSecret({ version: 2 });
      expect(await secrets().insert(secret)).toBe(false);
      expect(await secrets().find(secret.tenantId, 'crm')).toEqual([]);
    });

    test('the list has the newest version of each secret of the requested tenants, without the sealed value', async () => {
      const [b, a] = [aSecret({ name: 'b' }), aSecret({ name: 'a' })];
      const newer = { ...b, version: 2, createdAtMs: DAY_BEGIN + 1 };
      for (const secret of [b, a, newer]) await secrets().insert(secret);
      expect(await secrets().list([b.tenantId])).toEqual([told(newer)]);
      expect(await secrets().list([])).toEqual([]);
      const all = await secrets().list();
      expect(all).toEqual(expect.arrayContaining([told(newer), told(a)]));
    });

    test('one secret is returned where there are any', async () => {
      const secret = aSecret();
      await secrets().insert(secret);
      expect(await secrets().any()).toEqual({ tenantId: expect.any(String), name: expect.any(String) });
    });

    test('a deleted secret is gone with all its versions, and its name starts again at the first', async () => {
      const secret = aSecret();
      await secrets().insert(secret);
      await secrets().insert({ ...secret, version: 2 });
      expect(await atOnce(2, () => secrets().delete(secret.tenantId, 'crm'))).toEqual(
        expect.arrayContaining([true, false]),
      );
      expect(await secrets().find(secret.tenantId, 'crm')).toEqual([]);
      expect(await secrets().insert(secret)).toBe(true);
    });
  });
}
