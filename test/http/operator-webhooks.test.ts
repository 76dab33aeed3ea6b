import { afterEach, describe, expect, test } from 'vitest';
import { webhookSecrets } from '../../src/tenant-secrets/webhook-secrets.ts';
import { service, STAFF, type Reply } from '../support/app.ts';
import { NOON } from '../support/clock.ts';
import { app, useApp } from '../support/use-apps.ts';
import { errorOf } from './app.ts';

const { database } = useApp({ env: STAFF });
afterEach(async () => {
  database().isAway = false;
  const { webhooks } = app.service.stores;
  for (const { id } of await webhooks.list()) await webhooks.delete(id);
});

type Headers = Readonly<Record<string, string>>;
interface Webhook {
  readonly id: string;
  readonly url: string;
}

const root = '/api/operator/webhooks';
const url = 'https://hooks.acme.example/switchboard';
const add = (body: object = {}, headers: Headers = service): Promise<Reply> =>
  app.post(root, { tenantId: 'acme', url, types: ['session.started', 'session.ended'], ...body }, headers);
const act = (id: string, what: string, body: object = {}, headers: Headers = service): Promise<Reply> =>
  app.post(`${root}/${id}${what}`, body, headers);
const change = (id: string, body: object, headers: Headers = service): Promise<Reply> =>
  app.send({ method: 'PATCH', path: `${root}/${id}`, body, headers });
const remove = (id: string, headers: Headers = service): Promise<Reply> =>
  app.send({ method: 'DELETE', path: `${root}/${id}`, headers });
const look = (path = '', headers: Headers = service): Promise<Reply> => app.get(`${root}${path}`, headers);

async function added(body: object = {}): Promise<string> {
  const reply = await add(body);
  expect(reply.status).toBe(201);
  return (reply.body['webhook'] as Webhook).id;
}

const listed = async (query = '', headers: Headers = service) =>
  (await look(query, headers)).body['webhooks'] as readonly Webhook[];

async function deliveriesOf(id: string, query = '') {
  return (await look(`/${id}/deliveries${query}`)).body['deliveries'] as readonly Record<string, unknown>[];
}

async function auditOf(id: string): Promise<unknown> {
  return (await app.get(`/api/operator/audit?target=${id}`, service)).body['rows'];
}

describe('A webhook', () => {
  test('is added with a secret that is shown once, and is listed without it', async () => {
    const reply = await add({ reason: 'for billing' });
    const webhook = reply.body['webhook'] as Webhook;
    expect(reply).toMatchObject({ status: 201, body: { secret: expect.stringMatching(/^whsec_[\w+/]{43}=$/) } });
    expect(webhook).toEqual({
      id: expect.stringMatching(/^wh_[\w-]{22}$/),
      tenantId: 'acme',
      url,
      types: ['session.started', 'session.ended'],
      state: 'healthy',
      failures: 0,
      failingSince: null,
      probeAt: null,
      disabledFor: null,
      waiting: 0,
      createdAt: new Date(NOON).toISOString(),
      createdBy: expect.stringMatching(/^service:/),
      version: 1,
    });
    expect(await listed()).toEqual([webhook]);
    expect((await look(`/${webhook.id}`)).body).toEqual({ webhook });
    expect(await webhookSecrets({ tenantId: 'acme', id: webhook.id }, NOON, app.service.core.secrets)).toEqual([
      reply.body['secret'],
    ]);
    expect(await auditOf(webhook.id)).toMatchObject([
      { action: 'webhook.create', result: 'done', reason: 'for billing', tenantId: 'acme' },
    ]);
    expect((await app.get('/api/operator/secrets', service)).text).not.toContain('webhook');
  });

  test('can be at most the tenth of its tenant, and leaves no secret behind if it is one too many', async () => {
    for (let n = 0; n < 10; n += 1) await added();
    const before = await app.service.stores.tenantSecrets.list(['acme']);
    expect(errorOf(await add())).toEqual({ status: 409, code: 'CONFLICT' });
    expect(await app.service.stores.tenantSecrets.list(['acme'])).toEqual(before);
    expect((await add({ tenantId: 'globex' })).status).toBe(201);
  });

  test('requires a key to seal its secret', async () => {
    Object.assign(app.service.core.secrets, { sealer: undefined });
    expect(errorOf(await add())).toEqual({ status: 409, code: 'CONFLICT' });
    expect(await listed()).toEqual([]);
  });

  test('is changed only in the fields that are sent', async () => {
    const id = await added();
    expect((await change(id, { types: ['call.closed', 'call.closed'] })).body['webhook']).toMatchObject({
      url,
      types: ['call.closed'],
      version: 2,
    });
    expect((await change(id, { url: 'https://other.example/' })).body['webhook']).toMatchObject({
      url: 'https://other.example/',
      types: ['call.closed'],
    });
  });

  test('has a new secret after a rotation, and the former one for another day', async () => {
    const { body } = await add();
    const { id } = body['webhook'] as Webhook;
    app.clock.advance(1000);
    const rotated = await act(id, '/rotate');
    expect(rotated.status).toBe(201);
    expect(rotated.body['secret']).not.toBe(body['secret']);
    const both = await webhookSecrets({ tenantId: 'acme', id }, app.clock.now(), app.service.core.secrets);
    expect(both).toEqual([rotated.body['secret'], body['secret']]);
  });

  test('is switched off and on', async () => {
    const id = await added();
    expect((await act(id, '/disable', { reason: 'moves' })).body['webhook']).toMatchObject({
      state: 'disabled',
      disabledFor: 'operator',
    });
    expect((await act(id, '/enable')).body['webhook']).toMatchObject({ state: 'failing', disabledFor: null });
    expect(await auditOf(id)).toMatchObject([
      { action: 'webhook.enable', result: 'done' },
      { action: 'webhook.disable', result: 'done', reason: 'moves' },
      { action: 'webhook.create' },
    ]);
  });

  test('is deleted with its secrets and pending deliveries', async () => {
    const id = await added();
    await act(id, '/test');
    expect((await remove(id)).body).toEqual({ ok: true });
    expect(errorOf(await remove(id))).toEqual({ status: 404, code: 'NOT_FOUND' });
    expect(await listed()).toEqual([]);
    expect(await app.service.stores.tenantSecrets.find('acme', `:webhook:${id}`)).toEqual([]);
  });

  test('that the tenants file names is not deleted, and keeps its secrets', async () => {
    const { tenants, tenantSecrets } = app.service.stores;
    const acme = (await tenants.all()).find(({ id }) => id === 'acme');
    if (acme === undefined) throw new Error('there is no acme');
    const named = [{ id: 'billing', url, types: ['session.settled'], createdAtMs: 0 }];
    await tenants.merge([{ ...acme, webhooks: named }]);
    const id = 'acme:billing';
    expect((await act(id, '/rotate')).status).toBe(201);
    expect(await remove(id)).toMatchObject({
      status: 409,
      body: { code: 'CONFLICT', error: 'TENANTS_FILE names this webhook: take it out there first, or disable it.' },
    });
    expect(await tenantSecrets.find('acme', `:webhook:${id}`)).toHaveLength(1);
    expect(await auditOf(id)).toMatchObject([
      { action: 'webhook.delete', result: 'unchanged' },
      { action: 'webhook.rotate', result: 'done' },
    ]);
    await tenants.merge([acme]);
    expect((await remove(id)).body).toEqual({ ok: true });
    expect(await tenantSecrets.find('acme', `:webhook:${id}`)).toEqual([]);
  });
});

describe('What a webhook was told', () => {
  test('is listed, and shown with the body that was sent', async () => {
    const id = await added();
    const key = await app.key();
    const session = await app.open(key);
    app.clock.advance(1000);
    await app.sessions.endForGood(session, 'closed_by_operator', app.clock.now(), undefined);
    const ref = session.slice(0, 42);
    const all = await deliveriesOf(id);
    expect(all).toMatchObject([
      { type: 'session.ended', session: ref, state: 'waiting', attempts: 0, webhook: id, lastStatus: null },
      { type: 'session.started', session: ref, state: 'waiting' },
    ]);
    expect(await deliveriesOf(id, '?type=session.started')).toEqual(all.slice(1));
    expect(await deliveriesOf(id, '?state=dead')).toEqual([]);
    expect(await deliveriesOf(id, `?session=${ref}`)).toEqual(all);
    const one = (await look(`/${id}/deliveries/${String(all[0]?.['event'])}`)).body;
    expect(one).toMatchObject({ ...all[0] });
    expect(JSON.parse(String(one['body']))).toMatchObject({ type: 'session.ended', data: { ref } });
    expect(String(one['body'])).not.toContain(session);
    const told = await app.get(`/api/operator/sessions/${encodeURIComponent(ref)}/webhooks`, service);
    expect(told.body['deliveries']).toEqual(all.map((delivery) => ({ ...delivery, url, tenantId: 'acme' })));
    expect((await listed())[0]).toMatchObject({ waiting: 2 });
  });

  test('may be a test on request, whichever types it subscribes to', async () => {
    const id = await added({ types: ['call.closed'] });
    const { status, body } = await act(id, '/test');
    expect(status).toBe(201);
    expect(await deliveriesOf(id)).toMatchObject([{ event: body['event'], type: 'webhook.test', session: null }]);
  });

  test('is sent again, one or many, under the same ids; many only if the count matches', async () => {
    const id = await added();
    const { webhooks } = app.service.stores;
    for (let n = 0; n < 12; n += 1) {
      await act(id, '/test');
      app.clock.advance(1000);
      const claim = await webhooks.claimOne(id, app.clock.now(), app.clock.now() + 1000);
      const about = { attempts: 10, nextAtMs: null, atMs: app.clock.now(), status: 500, code: null, ms: 1 };
      for (const one of claim?.deliveries ?? []) await webhooks.finish(one, { state: 'dead', ...about });
    }
    const [newest] = await deliveriesOf(id);
    expect((await act(id, `/deliveries/${String(newest?.['event'])}/replay`)).body).toEqual({ ok: true });
    expect((await deliveriesOf(id))[0]).toMatchObject({ event: newest?.['event'], state: 'waiting', attempts: 0 });
    const span = { from: new Date(NOON).toISOString(), to: new Date(NOON + 60_000).toISOString() };
    const counted = { matched: 11, expected: 11 };
    expect((await act(id, '/replay', { ...span, dryRun: true })).body).toEqual(counted);
    expect((await act(id, '/replay', { ...span, types: ['call.closed'], dryRun: true })).body).toMatchObject({
      matched: 0,
    });
    const changed = await act(id, '/replay', { ...span, expected: 9 });
    expect(changed).toMatchObject({ status: 409, body: { code: 'COUNT_CHANGED', matched: 11 } });
    expect((await act(id, '/replay', { ...span, expected: 11 })).body).toEqual({ replayed: 11 });
    expect(await deliveriesOf(id, '?state=waiting')).toHaveLength(12);
  });
});

describe('Who may do what with webhooks', () => {
  test('admins manage those of their tenants, and neither others nor the installation’s', async () => {
    const boss = await app.as('boss@globex.example');
    const mine = await add({ tenantId: 'globex' }, boss);
    expect(mine.status).toBe(201);
    const { id } = mine.body['webhook'] as Webhook;
    const common = await added({ tenantId: undefined });
    const others = [await added(), common];
    expect((await listed('', boss)).map((one) => one.id)).toEqual([id]);
    for (const other of others) {
      expect(errorOf(await look(`/${other}`, boss)).status).toBe(404);
      expect(errorOf(await look(`/${other}/deliveries`, boss)).status).toBe(404);
      for (const what of ['/rotate', '/test', '/enable', '/disable'])
        expect(errorOf(await act(other, what, {}, boss))).toEqual({ status: 404, code: 'NOT_FOUND' });
      for (const reply of [await change(other, {}, boss), await remove(other, boss)])
        expect(errorOf(reply)).toEqual({ status: 404, code: 'NOT_FOUND' });
    }
    expect(errorOf(await add({ tenantId: undefined }, boss))).toEqual({ status: 403, code: 'FORBIDDEN' });
    expect((await act(id, '/test', {}, boss)).status).toBe(201);
    expect((await listed('?tenantId=acme')).map((one) => one.id)).toEqual([others[0]]);
  });

  test('viewers see only the origin of an address', async () => {
    const id = await added();
    expect(await listed('', await app.as('vera@example.com'))).toMatchObject([
      { id, url: 'https://hooks.acme.example/…' },
    ]);
  });

  test('a tenant’s admin does not see what the installation’s webhooks were told about its sessions', async () => {
    const common = await added({ tenantId: undefined });
    const key = await app.key({ tenantId: 'globex' });
    const session = await app.open(key);
    const path = `/api/operator/sessions/${encodeURIComponent(session)}/webhooks`;
    const boss = await app.as('boss@globex.example');
    expect((await app.get(path, boss)).body).toEqual({ deliveries: [] });
    expect((await app.get(path, service)).body['deliveries']).toMatchObject([{ webhook: common, tenantId: null }]);
  });
});
