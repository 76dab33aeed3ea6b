import { beforeEach, describe, expect, test } from 'vitest';
import { service, somebody, unique, type Reply } from '../../support/app.ts';
import { app, useApp } from '../../support/use-apps.ts';
import { attached } from '../../channel/client.ts';
import { changedAt } from '../../support/key-change.ts';

useApp();

/** A tenant of the test's own, because the limits of a tenant's keys decide some answers. */
let tenantId: string;
beforeEach(async () => {
  tenantId = unique('tenant');
  await app.service.stores.tenants.merge([{ id: tenantId, name: '', agents: [], admins: null, keys: [] }]);
});

const report = (body: object, headers: Record<string, string> = {}): Promise<Reply> =>
  app.post('/api/auth/usage', { tokens: 0, dollars: 0, ...body }, headers);
const keyWith = (dailyTokens: number) => app.key({ tenantId, limits: { dailyTokens } });
const endReasons = (ids: readonly string[]): Promise<unknown[]> =>
  Promise.all(ids.map(async (id) => (await app.sessions.find(id))?.endReason));

describe('Of one user’s sessions on keys with different ceilings', () => {
  test('a report ends those whose own key’s ceiling is exceeded, whichever session it names', async () => {
    const email = somebody();
    const small = await app.open(await keyWith(100), { email });
    const large = await app.open(await keyWith(1000), { email });
    expect(await report({ email, sm_session_id: large, tokens: 101 })).toMatchObject({
      status: 200,
      body: { usage: { tokens: 101, dailyTokenLimit: 1000 } },
    });
    expect(await endReasons([small, large])).toEqual(['quota_exceeded', null]);
  });

  test('the others live when a report is refused by the ceiling of the one that it names', async () => {
    const email = somebody();
    const small = await app.open(await keyWith(100), { email });
    const large = await app.open(await keyWith(1000), { email });
    expect(await report({ email, sm_session_id: small, tokens: 101 })).toMatchObject({
      status: 429,
      body: { usage: { tokens: 101, dailyTokenLimit: 100 } },
    });
    expect(await endReasons([small, large])).toEqual(['quota_exceeded', null]);
    expect((await report({ email, sm_session_id: large, tokens: 900 })).status).toBe(429);
    expect(await endReasons([large])).toEqual(['quota_exceeded']);
  });

  test('a service token’s report by e-mail ends each by its own key, and is refused when no key lets the user go on', async () => {
    const email = somebody();
    const small = await app.open(await keyWith(100), { email });
    const large = await app.open(await keyWith(1000), { email });
    const revoked = await keyWith(1e9);
    await app.service.stores.tenants.revoke(tenantId, revoked.id, changedAt(app.clock.now()));
    await app.service.directory.reload();
    expect(await report({ email, tenantId, tokens: 101 }, service)).toMatchObject({
      status: 200,
      body: { usage: { tokens: 101, dailyTokenLimit: 1000 } },
    });
    expect(await endReasons([small, large])).toEqual(['quota_exceeded', null]);
    expect(await report({ email, tenantId, tokens: 900 }, service)).toMatchObject({
      status: 429,
      body: { usage: { tokens: 1001, dailyTokenLimit: 1000 } },
    });
    expect(await endReasons([large])).toEqual(['quota_exceeded']);
  });

  test('each is warned at the shares of its own ceiling', async () => {
    const email = somebody();
    const small = attached(app, await app.open(await keyWith(100), { email }), email);
    const large = attached(app, await app.open(await keyWith(1000), { email }), email);
    await report({ email, tenantId, tokens: 80 }, service);
    expect(small.heard()).toEqual([{ type: 'warning', reason: 'quota' }]);
    expect(large.heard()).toEqual([]);
    await report({ email, tenantId, tokens: 720 }, service);
    expect(small.heard()).toMatchObject([{ type: 'ended', reason: 'quota_exceeded' }]);
    expect(large.heard()).toEqual([{ type: 'warning', reason: 'quota' }]);
  });
});

describe('A service token’s report by e-mail and tenant', () => {
  test('tells the installation’s ceilings where the tenant has no key', async () => {
    const reply = await report({ email: somebody(), tenantId, tokens: 5 }, service);
    expect(reply.body['usage']).toMatchObject({ tokens: 5, dailyTokenLimit: 300_000, dailyDollarLimit: 20 });
  });

  test('is judged by the ceiling of the tenant’s key, also when the user has no session', async () => {
    await keyWith(100);
    const reply = await report({ email: somebody(), tenantId, tokens: 101 }, service);
    expect(reply).toMatchObject({ status: 429, body: { usage: { dailyTokenLimit: 100 } } });
  });
});
