import { afterEach, describe, expect, test } from 'vitest';
import { service, STAFF, type Reply } from '../support/app.ts';
import { DAY, NOON } from '../support/clock.ts';
import { app, useApp } from '../support/use-apps.ts';
import { errorOf } from './app.ts';

useApp({ env: STAFF });

// Other tests share the database.
afterEach(async () => {
  for (const tenantId of [null, 'acme']) await app.service.stores.tenants.liftStop(tenantId);
});

const stop = (body: object = {}, headers: Record<string, string> = service): Promise<Reply> =>
  app.post('/api/operator/stop', body, headers);
const resume = (body: object = {}, headers: Record<string, string> = service): Promise<Reply> =>
  app.post('/api/operator/resume', body, headers);
const look = (query = '', headers: Record<string, string> = service): Promise<Reply> =>
  app.get(`/api/operator/stop${query}`, headers);

describe('The emergency stop', () => {
  test.each([[{}], [{ tenantId: 'acme' }]])(
    'of %j ends open sessions and refuses new ones until it is lifted',
    async (scope) => {
      const key = await app.key();
      const create = () => app.post('/api/session', { widgetKey: key.key }, { origin: key.origin });
      const id = await app.open(key);
      const reason = 'a key leaked';
      const stopped = { tenantId: null, ...scope, stoppedAt: new Date(NOON).toISOString(), reason };
      expect(await stop({ ...scope, reason })).toMatchObject({ status: 200, body: { ok: true, stop: stopped } });
      await expect.poll(async () => (await app.sessions.find(id))?.endReason).toBe('closed_by_operator');
      const refused = await create();
      expect(errorOf(refused)).toEqual({ status: 403, code: 'SERVICE_STOPPED' });
      expect(refused.body['error']).not.toContain(reason);
      expect(refused.headers['access-control-allow-origin']).toBe(key.origin);
      await expect
        .poll(async () => (await look('?tenantId=acme')).body['open'])
        .toEqual({
          sessions: 0,
          calls: { open: 0, closing: 0 },
        });
      expect((await look()).body['stops']).toMatchObject([stopped]);
      const told = (await app.get(`/api/operator/sessions/${encodeURIComponent(id)}`, service)).body;
      expect(JSON.stringify(told['why'])).toContain('by the emergency stop, who wrote “a key leaked”');

      app.clock.advance(1000);
      expect((await stop({ ...scope, reason: 'again' })).body['stop']).toMatchObject(stopped);
      expect((await resume(scope)).body).toEqual({ ok: true, alreadyRunning: false });
      expect((await resume(scope)).body).toEqual({ ok: true, alreadyRunning: true });
      await app.service.directory.reload();
      expect((await create()).status).toBe(200);
      const target = 'tenantId' in scope ? 'acme' : 'installation';
      const { body } = await app.get(
        `/api/operator/audit?target=${target}&from=${new Date(NOON).toISOString()}&limit=4`,
        service,
      );
      expect(body['rows']).toMatchObject([
        { action: 'service.resume', result: 'unchanged' },
        { action: 'service.resume', result: 'done' },
        { action: 'service.stop', result: 'unchanged', reason: 'again' },
        { action: 'service.stop', result: 'done', reason },
      ]);
    },
  );

  test.each([
    [1, '', null],
    [2, ' \n\t', null],
    [3, '  a key leaked ', 'a key leaked'],
  ])('on day %i keeps the reason %j as %j, as all acts do', async (day, reason, kept) => {
    app.clock.advance(day * DAY);
    const since = new Date(app.clock.now()).toISOString();
    expect((await stop({ tenantId: 'acme', reason })).body['stop']).toMatchObject({ reason: kept });
    await resume({ tenantId: 'acme', reason });
    const budget = { tenantId: 'acme', id: 'blank', of: 'tenant', period: 'month', dollars: 10, reason };
    expect((await app.post('/api/operator/budgets', budget, service)).status).toBe(201);
    const asked = reason === '' ? '' : `&reason=${encodeURIComponent(reason)}`;
    const path = `/api/operator/budgets/blank?tenantId=acme${asked}`;
    expect((await app.send({ method: 'DELETE', path, headers: service })).status).toBe(200);
    const { body } = await app.get(`/api/operator/audit?tenantId=acme&from=${since}&limit=4`, service);
    const [deleted, created, resumed, stopped] = body['rows'] as { action: string; reason: string | null }[];
    expect([deleted, created, resumed, stopped]).toMatchObject([
      { action: 'budget.delete', reason: kept },
      { action: 'budget.create', reason: kept },
      { action: 'service.resume', reason: kept },
      { action: 'service.stop', reason: kept },
    ]);
  });

  test('of a tenant does not affect others, and resuming the installation does not resume stopped tenants', async () => {
    const key = await app.key();
    const create = async () => (await app.post('/api/session', { widgetKey: key.key }, { origin: key.origin })).status;
    expect((await stop({ tenantId: 'globex' })).status).toBe(200);
    await app.service.directory.reload();
    expect(await create()).toBe(200);
    expect((await stop({ tenantId: 'acme' })).status).toBe(200);
    expect((await stop()).status).toBe(200);
    expect((await resume()).status).toBe(200);
    await app.service.directory.reload();
    expect(await create()).toBe(403);
    expect((await resume({ tenantId: 'globex' })).body).toEqual({ ok: true, alreadyRunning: false });
  });

  test('also ends a session that was being opened meanwhile', async () => {
    const key = await app.key();
    const { tenants } = app.service.stores;
    app.provider.answer = async (minted) => {
      await tenants.addStop({ tenantId: 'acme', atMs: NOON, actor: 'cli', role: 'cli', reason: null });
      await app.service.directory.reload();
      return minted;
    };
    const refused = await app.post('/api/session', { widgetKey: key.key }, { origin: key.origin });
    expect(errorOf(refused)).toEqual({ status: 403, code: 'SERVICE_STOPPED' });
    expect((await look('?tenantId=acme')).body['open']).toMatchObject({ sessions: 0 });
  });
});

describe('Who may stop and resume', () => {
  test('an admin stops and resumes only their own tenant, and not what an operator has stopped', async () => {
    const boss = await app.as('boss@globex.example');
    const globex = { tenantId: 'globex' };
    expect(errorOf(await stop({}, boss))).toEqual({ status: 403, code: 'FORBIDDEN' });
    expect((await stop(globex, boss)).status).toBe(200);
    expect((await resume(globex, boss)).body).toEqual({ ok: true, alreadyRunning: false });
    // An operator's stop also holds where the admin had stopped the tenant before.
    await stop(globex, boss);
    await stop(globex);
    expect(errorOf(await resume(globex, boss))).toEqual({ status: 403, code: 'FORBIDDEN' });
    expect(errorOf(await resume({}, boss))).toEqual({ status: 403, code: 'FORBIDDEN' });
    await stop({ tenantId: 'acme', reason: 'of acme' });
    const seen = (await look('', boss)).body;
    expect(seen['stops']).toMatchObject([{ tenantId: 'globex' }]);
    expect((await resume(globex)).status).toBe(200);
  });
});
