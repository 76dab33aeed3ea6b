import { describe, expect, test } from 'vitest';
import { readSecret, signingSecrets } from '../../src/tenant-secrets/secrets.ts';
import { service, STAFF, unique, type Reply } from '../support/app.ts';
import { NOON } from '../support/clock.ts';
import { app, useApp } from '../support/use-apps.ts';
import { errorOf } from './app.ts';

const VALUE = 'a-value-that-nobody-is-told';

useApp({ env: STAFF });

type Headers = Readonly<Record<string, string>>;

const set = (body: object, headers: Headers = service): Promise<Reply> =>
  app.post('/api/operator/secrets', { tenantId: 'acme', value: VALUE, ...body }, headers);

const remove = (name: string, body: object = {}, headers: Headers = service): Promise<Reply> =>
  app.post(`/api/operator/secrets/${name}/delete`, { tenantId: 'acme', ...body }, headers);

const sign = (body: object = {}, headers: Headers = service): Promise<Reply> =>
  app.post('/api/operator/secrets/signing', { tenantId: 'acme', ...body }, headers);

const list = (query = '', headers: Headers = service): Promise<Reply> =>
  app.get(`/api/operator/secrets${query}`, headers);

interface Secret {
  readonly tenantId: string;
  readonly name: string;
}

async function secretsOf(query = '', headers: Headers = service): Promise<readonly Secret[]> {
  const { status, body } = await list(query, headers);
  expect(status).toBe(200);
  return body['secrets'] as Secret[];
}

const find = async (name: string, headers?: Headers) =>
  (await secretsOf('', headers)).find((secret) => secret.name === name);

describe('Secrets of tenants', () => {
  test('are set and replaced, are what tools send from then on, and are shown to nobody', async () => {
    const name = unique('crm');
    const ops = await app.as('ops@example.com');
    const at = new Date(NOON).toISOString();
    const secret = { tenantId: 'acme', name, version: 1, createdAt: at, createdBy: 'ops@example.com', agents: [] };
    expect(await set({ name, value: 'before', reason: 'a new CRM' }, ops)).toMatchObject({
      status: 201,
      body: { secret },
    });
    const again = await set({ name }, ops);
    expect(again).toMatchObject({ status: 201, body: { secret: { ...secret, version: 2 } } });
    expect(await readSecret('acme', name, app.service.core.secrets)).toBe(VALUE);
    const audit = await app.get(`/api/operator/audit?target=acme/${name}`, service);
    expect(audit.body['rows']).toMatchObject([
      { action: 'secret.set', tenantId: 'acme', actor: 'ops@example.com', role: 'operator', result: 'done' },
      { action: 'secret.set', reason: 'a new CRM', result: 'done' },
    ]);
    expect(await find(name)).toEqual({ ...secret, version: 2 });
    const told = [again.body, (await list()).body, audit.body, (await app.get('/metrics', service)).text];
    expect(JSON.stringify(told)).not.toContain(VALUE);
  });

  test('are listed with the agents that send them, including names that have no value yet', async () => {
    const [sent, missing] = [unique('sent'), unique('missing')];
    const id = unique('shop');
    const tool = {
      kind: 'server_tool',
      name: 'look',
      url: 'https://api.example/look',
      headers: { authorization: `Bearer \${secret:${sent}}`, 'x-other': `\${secret:${missing}}` },
    };
    const tenant = { id, name: 'Shop', admins: null, keys: [] };
    await app.service.stores.tenants.merge([
      { ...tenant, agents: [{ id: 'support', tools: [tool] }, { id: 'sales' }] },
    ]);
    expect((await set({ tenantId: id, name: sent })).body['secret']).toMatchObject({ agents: ['support'] });
    expect((await list(`?tenantId=${id}`)).body).toMatchObject({
      tenants: [{ id, name: 'Shop' }],
      secrets: [{ name: sent, agents: ['support'] }],
      missing: [{ tenantId: id, name: missing, agents: ['support'] }],
    });
  });

  test('are deleted once, with a reason', async () => {
    const name = unique('crm');
    await set({ name });
    expect(await remove(name, { reason: 'replaced' })).toMatchObject({ status: 200, body: { ok: true } });
    expect(await find(name)).toBeUndefined();
    expect(errorOf(await remove(name))).toEqual({ status: 404, code: 'NOT_FOUND' });
    const { body } = await app.get(`/api/operator/audit?target=acme/${name}`, service);
    expect(body['rows']).toMatchObject([{ action: 'secret.delete', reason: 'replaced' }, { action: 'secret.set' }]);
  });

  test('that sign requests are shown once, and the former one signs as well', async () => {
    const id = unique('signed');
    await app.service.stores.tenants.merge([{ id, name: 'Signed', agents: [], admins: null, keys: [] }]);
    const [first, second, third] = [
      await sign({ tenantId: id }),
      await sign({ tenantId: id }),
      await sign({ tenantId: id }),
    ];
    expect(third?.status).toBe(201);
    expect(third?.body['secret']).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const kept = [third?.body['secret'], second?.body['secret']];
    expect(await signingSecrets(id, app.service.core.secrets)).toEqual(kept);
    expect(kept).not.toContain(first?.body['secret']);
    expect(await secretsOf(`?tenantId=${id}`)).toEqual([]);
    // Signing secrets have no name by which they could be read, deleted or set.
    expect(errorOf(await remove('%3Atools', { tenantId: id }))).toEqual({ status: 404, code: 'NOT_FOUND' });
    const { body } = await app.get(`/api/operator/audit?target=${id}/:tools`, service);
    expect(body['rows']).toMatchObject([{ action: 'secret.signing', result: 'done' }, {}, {}]);
    expect(JSON.stringify(body)).not.toContain('whsec_');
  });

  test('are set, signed for and deleted by admins for their own tenants, and viewers see who set one only masked', async () => {
    const name = unique('crm');
    const [boss, viewer] = [await app.as('boss@globex.example'), await app.as('vera@example.com')];
    await set({ name }, await app.as('ops@example.com'));
    expect((await set({ tenantId: 'globex', name }, boss)).status).toBe(201);
    expect((await sign({ tenantId: 'globex' }, boss)).status).toBe(201);
    expect(await find(name, boss)).toMatchObject({ tenantId: 'globex', createdBy: 'boss@globex.example' });
    expect((await remove(name, { tenantId: 'globex' }, boss)).status).toBe(200);
    expect(await find(name, viewer)).toMatchObject({ tenantId: 'acme', createdBy: 'o…@example.com' });
  });

  test('are not set if there is no key to seal them', async () => {
    const { secrets } = app.service.core;
    Object.assign(secrets, { sealer: undefined });
    const refused = await set({ name: 'x' });
    expect(errorOf(refused)).toEqual({ status: 409, code: 'CONFLICT' });
    expect(refused.body['details']).toMatchObject([{ path: 'SEALING_KEY' }]);
  });
});
