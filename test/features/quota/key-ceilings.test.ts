import { beforeEach, describe, expect, test } from 'vitest';
import { service, somebody, unique, type Reply } from '../../support/app.ts';
import { app, useApp } from '../../support/use-apps.ts';
import { attached } from '../../channel/client.ts';
import { changedAt } from '../../support/key-change.ts';
import type { WidgetKey } from '../../../src/stores/tenants/contract.ts';

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

test('A ceiling that a tenants file changes counts from the next create on: a key’s limit, its total, its tenant’s', async () => {
  const id = unique('key');
  const made = { id, tenantId, key: `w_${id}`, origin: `https://${id}.example`, label: '', agents: null };
  const free = { allowOverrides: false, call: null, dataChannel: null, pausedAtMs: null, revokedAtMs: null };
  const serve = async (limits: WidgetKey['limits'], totals: WidgetKey['totals'], ofTenant: WidgetKey['totals']) => {
    const key: WidgetKey = { ...made, ...free, limits, totals };
    const tenant = { id: tenantId, name: '', agents: [], admins: null, totals: ofTenant, keys: [key] };
    await app.service.stores.tenants.merge([tenant]);
    await app.service.directory.reload();
    return (await app.create(key, { email: somebody() })).status;
  };
  expect(await serve({ concurrentSessions: 0 }, {}, {})).toBe(429);
  expect(await serve({}, {}, {})).toBe(200);
  expect(await serve({}, { concurrentSessions: 1 }, {})).toBe(429);
  expect(await serve({}, { concurrentSessions: 2 }, { concurrentSessions: 1 })).toBe(429);
  expect(await serve({}, { concurrentSessions: 2 }, { concurrentSessions: 2 })).toBe(200);
});
