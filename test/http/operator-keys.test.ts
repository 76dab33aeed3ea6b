import { describe, expect, test } from 'vitest';
import { mergeTenantsFile } from '../../src/tenants/watch-file.ts';
import { defaultTenantsFile } from '../../config/build-info.ts';
import { service, STAFF, unique, type Reply } from '../support/app.ts';
import { NOON } from '../support/clock.ts';
import { app, useApp } from '../support/use-apps.ts';
import { errorOf, whyRefused } from './app.ts';

useApp({ env: STAFF });

const issue = (body: object, headers: Record<string, string> = service): Promise<Reply> =>
  app.post('/api/operator/keys', { tenantId: 'acme', origin: 'https://shop.acme.example', ...body }, headers);

const revoke = (id: string, body: object = {}, headers: Record<string, string> = service): Promise<Reply> =>
  app.post(`/api/operator/keys/${encodeURIComponent(id)}/revoke`, { tenantId: 'acme', ...body }, headers);

interface Key {
  readonly id: string;
  readonly key: string;
  readonly tenantId: string;
  readonly live: number;
}

async function keysOf(query = '', headers: Record<string, string> = service): Promise<readonly Key[]> {
  const { status, body } = await app.get(`/api/operator/keys${query}`, headers);
  expect(status).toBe(200);
  return body['keys'] as Key[];
}

describe('Widget keys', () => {
  test('are issued under an id of the operator’s choice, work at once, and survive a merge of the tenants file', async () => {
    const id = unique('shop');
    const reply = await issue({
      id,
      label: 'Shop',
      agents: ['support'],
      allowOverrides: false,
      limits: { dailyTokens: 5 },
    });
    expect(reply.status).toBe(201);
    const { key } = reply.body as { key: Key & { origin: string } };
    expect(key).toEqual({
      tenantId: 'acme',
      id,
      key: expect.stringMatching(new RegExp(`^w_acme_${id}_[0-9a-f]{32}$`)),
      origin: 'https://shop.acme.example',
      label: 'Shop',
      agents: ['support'],
      allowOverrides: false,
      call: null,
      dataChannel: 'none',
      limits: { dailyTokens: 5 },
      totals: { sessionsPerMinute: 120, concurrentSessions: 100, tokensDaily: 3_000_000, dollarsDaily: 200 },
      warnings: [],
      revokedAt: null,
      pausedAt: null,
      live: 0,
      today: { tokens: 0, dollars: 0 },
      refusedHour: {},
      day: { started: 0, refused: 0, challenged: 0, solved: 0, blocked: 0 },
      weekAgo: { started: 0, refused: 0, challenged: 0, solved: 0, blocked: 0 },
    });
    await app.service.directory.reload();
    const opened = await app.post('/api/session', { widgetKey: key.key, agentId: 'support' }, { origin: key.origin });
    expect(opened.status).toBe(200);
    const { tenants } = app.service.stores;
    const dayOf = () => '2030-01-01';
    await mergeTenantsFile({
      file: defaultTenantsFile(),
      tenants,
      dayOf,
      bus: app.live.bus,
      clock: app.clock,
    });
    expect((await keysOf('?tenantId=acme')).find((one) => one.id === id)).toEqual({ ...key, live: 1 });
    const { body } = await app.get(`/api/operator/audit?target=acme/${id}`, service);
    expect(body['rows']).toMatchObject([{ action: 'key.issue', tenantId: 'acme', role: 'service', result: 'done' }]);
  });

  test('are issued once for each id, even when two ask at once', async () => {
    const id = unique('shop');
    const statuses = (await Promise.all([issue({ id }), issue({ id })])).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([201, 409]));
    const again = await issue({ id });
    expect(errorOf(again)).toEqual({ status: 409, code: 'CONFLICT' });
    expect(again.body['error']).toContain(id);
  });

  test('are revoked for ever, after a preview of how many sessions that ends', async () => {
    const key = await app.key();
    const id = await app.open(key);
    expect((await revoke(key.id, { dryRun: true })).body).toEqual({ ok: true, liveSessions: 1, revokedAt: null });
    expect(await app.sessions.find(id)).toMatchObject({ endedAtMs: null });
    const revokedAt = new Date(NOON).toISOString();
    expect((await revoke(key.id, { reason: 'leaked' })).body).toEqual({ ok: true, liveSessions: 1, revokedAt });
    await expect.poll(async () => (await app.sessions.find(id))?.endReason).toBe('key_revoked');
    app.clock.advance(1000);
    expect((await revoke(key.id)).body).toEqual({ ok: true, liveSessions: 0, revokedAt });
    expect((await keysOf()).find((one) => one.id === key.id)).toMatchObject({ revokedAt, live: 0 });
    const { body } = await app.get(`/api/operator/audit?target=acme/${key.id}`, service);
    expect(body['rows']).toMatchObject([
      { action: 'key.revoke', result: 'unchanged' },
      { action: 'key.revoke', result: 'done', reason: 'leaked' },
    ]);
  });

  test('open no sessions while they are paused, and open sessions go on', async () => {
    const key = await app.key();
    const id = await app.open(key);
    const change = (what: string) =>
      app.post(`/api/operator/keys/${key.id}/${what}`, { tenantId: 'acme', reason: 'rebuilt' }, service);
    const create = () => app.post('/api/session', { widgetKey: key.key }, { origin: key.origin });
    const pausedAt = new Date(NOON).toISOString();
    expect((await change('pause')).body).toEqual({ ok: true, pausedAt, revokedAt: null });
    expect((await keysOf()).find((one) => one.id === key.id)).toMatchObject({ pausedAt, live: 1 });
    const refused = await create();
    expect(errorOf(refused)).toEqual({ status: 403, code: 'KEY_PAUSED' });
    expect(refused.headers['access-control-allow-origin']).toBe(key.origin);
    expect((await app.post('/api/realtime/heartbeat', { sm_session_id: id })).status).toBe(200);
    expect((await change('resume')).body).toEqual({ ok: true, pausedAt: null, revokedAt: null });
    await app.service.directory.reload();
    expect((await create()).status).toBe(200);
    const { body } = await app.get(`/api/operator/audit?target=acme/${key.id}`, service);
    expect(body['rows']).toMatchObject([
      { action: 'key.resume', result: 'done', reason: 'rebuilt' },
      { action: 'key.pause', result: 'done', reason: 'rebuilt' },
    ]);
  });

  test('show their recent usage and activity, and those of a week before', async () => {
    const [key, quiet] = [await app.key(), await app.key()];
    const weekAgo = NOON - 7 * 24 * 3_600_000;
    const { activity } = app.service.stores;
    const of = { tenantId: 'acme', keyId: key.id };
    const refused = { ...of, kind: 'refused' as const, label: 'ORIGIN_MISMATCH' };
    await activity.add([{ ...refused, n: 3 }], NOON - 1, 0);
    await activity.add([{ ...refused, n: 2 }], NOON - 2 * 3_600_000, 0);
    const challenged = { ...of, kind: 'challenged' as const };
    await activity.add(
      [
        { ...challenged, label: 'due', n: 9 },
        { ...challenged, label: 'solved', n: 7 },
        { ...challenged, label: 'wrong', n: 1 },
        { ...refused, label: 'BOT_BLOCKED', n: 10 },
      ],
      NOON - 3 * 3_600_000,
      0,
    );
    await activity.add(
      [
        { ...of, kind: 'started', label: 'widget', n: 40 },
        { ...refused, n: 1 },
      ],
      weekAgo,
      0,
    );
    await app.open(key);
    await app.service.activityWriter.flush();
    const used = { sm_session_id: await app.open(key), tokens: 300, dollars: 2.5 };
    expect((await app.post('/api/auth/usage', used, service)).status).toBe(200);
    const find = async (id: string) => (await keysOf('?tenantId=acme')).find((one) => one.id === id);
    expect(await find(key.id)).toMatchObject({
      today: { tokens: 300, dollars: 2.5 },
      refusedHour: { ORIGIN_MISMATCH: 3 },
      day: { started: 1, refused: 15, challenged: 9, solved: 7, blocked: 10 },
      weekAgo: { started: 40, refused: 1 },
    });
    expect(await find(quiet.id)).toMatchObject({
      today: { tokens: 0, dollars: 0 },
      refusedHour: {},
      day: { started: 0, refused: 0 },
      weekAgo: { started: 0, refused: 0 },
    });
  });

  test('are issued by tenants’ admins within the installation’s limits, unless their tenant allows more', async () => {
    const boss = await app.as('boss@globex.example');
    const own = (body: object, headers = boss) => issue({ tenantId: 'globex', id: unique('g'), ...body }, headers);
    const high = { limits: { dailyDollars: 20.5, concurrentSessions: 1_000_000 } };
    for (const [body, paths] of [
      [high, ['limits.dailyDollars', 'limits.concurrentSessions']],
      [{ call: 'direct' }, ['call']],
    ] as const) {
      const refused = await own(body);
      expect(errorOf(refused)).toEqual({ status: 403, code: 'FORBIDDEN' });
      expect(refused.body['details']).toMatchObject(paths.map((path) => ({ path })));
      expect((await own(body, service)).status).toBe(201);
      expect((await own(body, await app.as('ops@example.com'))).status).toBe(201);
    }
    expect((await own({ limits: { dailyDollars: 20, dailyTokens: 0 }, totals: { dollarsDaily: 900 } })).status).toBe(
      201,
    );
    const { tenants } = app.service.stores;
    const globex = { id: 'globex', name: 'Globex', agents: [], admins: ['boss@globex.example'], keys: [] };
    await tenants.merge([{ ...globex, adminsMay: ['limits'] }]);
    expect((await own(high)).status).toBe(201);
    expect((await own({ call: 'direct' })).status).toBe(403);
    await tenants.merge([{ ...globex, adminsMay: ['limits', 'direct'] }]);
    expect((await own({ call: 'direct' })).status).toBe(201);
    await tenants.merge([globex]);
    expect((await own(high)).status).toBe(403);
  });

  test('cannot be open keys if a tenant’s admin issues them, and if an operator does only by explicit fields', async () => {
    const boss = await app.as('boss@globex.example');
    const own = (body: object, headers: Record<string, string>) =>
      issue({ tenantId: 'globex', id: unique('g'), ...body }, headers);
    const { key } = (await own({ totals: {} }, boss)).body as { key: Key };
    expect(key).toMatchObject({
      tenantId: 'globex',
      allowOverrides: false,
      totals: { dollarsDaily: 200 },
      dataChannel: 'none',
    });
    for (const [body, path] of [
      [{ allowOverrides: true }, 'allowOverrides'],
      [{ dataChannel: 'open' }, 'dataChannel'],
    ] as const) {
      const refused = await own(body, boss);
      expect(errorOf(refused)).toEqual({ status: 403, code: 'FORBIDDEN' });
      expect(refused.body['details']).toMatchObject([{ path }]);
    }
    expect((await revoke(key.id, { tenantId: 'globex' }, boss)).status).toBe(200);
    const id = unique('pilot');
    const open = { allowOverrides: true, totals: {}, agents: null, reason: 'a pilot' };
    expect((await issue({ id, ...open })).status).toBe(201);
    expect((await keysOf('?tenantId=acme')).find((one) => one.id === id)).toMatchObject({
      allowOverrides: true,
      warnings: ['overrides', 'no_totals', 'any_agent'],
    });
    const { body } = await app.get(`/api/operator/audit?target=acme/${id}`, service);
    expect(body['rows']).toMatchObject([{ reason: 'an open key (overrides, no_totals, any_agent): a pilot' }]);
    await revoke(id);
    expect((await keysOf('?tenantId=acme')).find((one) => one.id === id)).toMatchObject({ warnings: [] });
  });

  test('are not issued beyond the tenant’s maximum, which the list shows', async () => {
    const { tenants } = app.service.stores;
    const id = unique('small');
    const small = { id, name: 'Small', agents: [], admins: null, keys: [] };
    await tenants.merge([{ ...small, maxKeys: 1, totals: { dollarsDaily: 3 } }]);
    const more = () => issue({ tenantId: id, id: unique('k') });
    expect((await more()).status).toBe(201);
    const refused = await more();
    expect(errorOf(refused)).toEqual({ status: 409, code: 'CONFLICT' });
    expect(refused.body['error']).toContain('has 1 keys, and may have 1 (maxKeys in TENANTS_FILE)');
    // This conflict is not about a name.
    expect(refused.body['userMessage']).not.toMatch(/name/);
    expect(await whyRefused(app, refused)).toBe(
      'Nothing was changed: the tenant has as many keys as it may (maxKeys).',
    );
    const { body } = await app.get(`/api/operator/keys?tenantId=${id}`, service);
    expect(body['tenants']).toMatchObject([{ id, totals: { dollarsDaily: 3 }, maxKeys: 1 }]);
  });
});
