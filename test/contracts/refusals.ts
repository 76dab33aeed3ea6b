import { describe, expect, test } from 'vitest';
import { randomId } from '../../src/kernel/ids.ts';
import type { Database } from '../../src/database/database.ts';
import type { KeptRefusal, RefusalCursor, RefusalFilter, RefusalPage } from '../../src/stores/refusals/contract.ts';
import { createPostgresRefusals, walk } from '../../src/stores/refusals/postgres.ts';
import { DAY_BEGIN, nodesOf, storesOf } from './support.ts';

function refusal(fields: Partial<KeptRefusal> = {}): KeptRefusal {
  return {
    requestId: `req_${randomId()}`,
    atMs: DAY_BEGIN,
    code: 'RATE_LIMIT_EXCEEDED',
    status: 429,
    layer: 'minute',
    route: '/api/session',
    tenantId: 'acme',
    keyId: 'site',
    subject: 'someone',
    origin: 'https://acme.example',
    addressHash: '0123456789abcdef',
    network: '203.0.113.0/24',
    detail: { limit: 12, count: 12, unit: 'sessions', lever: 'WIDGET_SESSION_PER_MIN', retryAfter: 5 },
    node: 'one',
    ...fields,
  };
}

export function refusalsContract(name: string, nodes: () => readonly [Database, Database]): void {
  describe(`refusals, ${name}`, () => {
    const refusals = nodesOf(storesOf(nodes, createPostgresRefusals));
    const everything: RefusalFilter = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER, tenants: '*' };

    test('come back as they were kept, on every node', async () => {
      const bare = refusal({
        tenantId: null,
        keyId: null,
        subject: null,
        origin: null,
        addressHash: null,
        network: null,
        detail: {},
      });
      const full = refusal();
      await refusals().append([bare, full]);
      expect(await refusals().find(full.requestId, '*')).toEqual(full);
      expect(await refusals().find(bare.requestId, '*')).toEqual(bare);
      expect(await refusals().find('req_nobody', '*')).toBeUndefined();
    });

    test('are kept once, also when a batch is written again', async () => {
      const tenantId = randomId();
      const one = refusal({ tenantId });
      await refusals().append([one]);
      await refusals().append([one, refusal({ tenantId })]);
      expect((await refusals().list({ ...everything, tenants: [tenantId] }, undefined, 10)).refusals).toHaveLength(2);
    });

    test('that are none are kept without asking', async () => {
      await refusals().append([]);
    });

    test('of tenants that may not be seen are not there', async () => {
      const tenantId = randomId();
      const one = refusal({ tenantId });
      await refusals().append([one]);
      expect(await refusals().find(one.requestId, ['acme'])).toBeUndefined();
      expect(await refusals().find(one.requestId, [tenantId])).toEqual(one);
      const shown = async (tenants: readonly string[]) =>
        (await refusals().list({ ...everything, tenants }, undefined, 10)).refusals;
      expect(await shown(['acme'])).not.toContainEqual(one);
      expect(await shown([tenantId])).toEqual([one]);
      expect(await shown([])).toEqual([]);
    });

    test('are found by code, tenant, key, network, subject and time', async () => {
      const tenantId = randomId();
      const late = {
        tenantId,
        keyId: 'late',
        atMs: DAY_BEGIN + 1000,
        network: '198.51.100.0/24',
        code: 'ORIGIN_MISMATCH',
        subject: 'b'.repeat(32),
      };
      await refusals().append([refusal({ tenantId }), refusal(late)]);
      const keysBy = async (filter: Partial<RefusalFilter>): Promise<(string | null)[]> =>
        (await refusals().list({ ...everything, tenants: [tenantId], ...filter }, undefined, 10)).refusals.map(
          ({ keyId }) => keyId,
        );
      expect(await keysBy({})).toEqual(['late', 'site']);
      expect(await keysBy({ code: 'ORIGIN_MISMATCH' })).toEqual(['late']);
      expect(await keysBy({ keyId: 'site' })).toEqual(['site']);
      expect(await keysBy({ network: '198.51.100.0/24' })).toEqual(['late']);
      expect(await keysBy({ subject: late.subject })).toEqual(['late']);
      expect(await keysBy({ toMs: DAY_BEGIN + 999 })).toEqual(['site']);
      expect(await keysBy({ fromMs: DAY_BEGIN + 1 })).toEqual(['late']);
      expect(await keysBy({ fromMs: DAY_BEGIN, toMs: DAY_BEGIN })).toEqual(['site']);
    });

    test('come in pages that neither repeat nor leave out any, also those of one instant', async () => {
      const tenantId = randomId();
      const all = Array.from({ length: 7 }, (_, n) => refusal({ tenantId, atMs: DAY_BEGIN + Math.floor(n / 3) }));
      await refusals().append(all);
      const seen: string[] = [];
      let after: RefusalCursor | undefined;
      do {
        const page = await refusals().list({ ...everything, tenants: [tenantId] }, after, 3);
        seen.push(...page.refusals.map(({ requestId }) => requestId));
        after = page.next;
      } while (after !== undefined);
      expect(seen).toEqual(all.map(({ requestId }) => requestId).reverse());
    });

    test.each([1, 2])('of others do not show in how far was looked for those of %i tenants', async (seen) => {
      const [foreign, ...mine] = [randomId(), ...Array.from({ length: seen }, () => randomId())];
      const own = mine.map((tenantId) => refusal({ tenantId, atMs: DAY_BEGIN - 1 }));
      await refusals().append(own);
      for (let part = 0; part < 5; part += 1)
        await refusals().append(Array.from({ length: 2000 }, () => refusal({ tenantId: foreign ?? null })));
      const page = await refusals().list({ ...everything, tenants: mine }, undefined, 5);
      expect(page).toEqual({ refusals: own.toReversed(), next: undefined });
    });

    test('are looked for in parts: a page that finds nothing in 10,000 says where the next one begins', async () => {
      const tenantId = randomId();
      const sought = refusal({ tenantId, network: '192.0.2.0/24', atMs: DAY_BEGIN - 1 });
      await refusals().append([sought]);
      for (let part = 0; part < 5; part += 1)
        await refusals().append(Array.from({ length: 2000 }, () => refusal({ tenantId })));
      // Several tenants share the 10,000.
      for (const tenants of [[tenantId], [tenantId, randomId()]]) {
        const filter = { ...everything, tenants, network: '192.0.2.0/24' };
        const pages: RefusalPage[] = [];
        do pages.push(await refusals().list(filter, pages.at(-1)?.next, 5));
        while (pages.at(-1)?.next !== undefined);
        expect(pages.map((one) => one.refusals)).toEqual([...Array.from(tenants, () => []), [sought]]);
      }
    });

    test.each([1, 2])('of %i tenants are found by an index, whatever else is asked', async (count) => {
      await nodes()[0].run(
        (sql) => sql`
          insert into refusal (request_id, at_ms, code, status, layer, route, tenant_id, detail, node)
          select 'of many ' || ${count} || n, ${DAY_BEGIN}::int8 + n, 'BOT_BLOCKED', 403, 'bot', '/', 'tenant' || n % 100, '{}', 'one'
          from generate_series(1, 5000) as n`,
      );
      await nodes()[0].run((sql) => sql`analyze refusal`);
      const tenants = Array.from({ length: count }, (_, n) => `tenant${n}`);
      const filter = { ...everything, tenants, code: 'BOT_BLOCKED', network: '192.0.2.0/24' };
      const plan = await nodes()[0].run((sql) => sql`explain ${walk(sql, filter, undefined, 50)}`);
      const text = plan.map((row) => Object.values(row)[0]).join('\n');
      expect(text).toContain('refusal_newest_of_tenant');
      expect(text).not.toMatch(/Seq Scan on refusal|refusal_newest on/);
      await nodes()[0].run((sql) => sql`delete from refusal where request_id like 'of many %'`);
    });
  });
}
