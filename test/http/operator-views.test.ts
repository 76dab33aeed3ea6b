import { beforeEach, describe, expect, test } from 'vitest';
import { STAFF, type Reply } from '../support/app.ts';
import { app, useApp } from '../support/use-apps.ts';

useApp({ env: { ...STAFF, OPERATOR_EMAILS: 'ops@example.com,two@example.com' } });

const root = '/api/operator/views';
const href = '/console/sessions?state=stale&sorted=-Cost';
type Headers = Readonly<Record<string, string>>;

let ops: Headers;
let other: Headers;
beforeEach(async () => {
  [ops, other] = [await app.as('ops@example.com'), await app.as('two@example.com')];
  for (const headers of [ops, other])
    for (const { id, isOwn } of await views(headers)) if (isOwn) await remove(id, headers);
});

const save = (body: object, headers: Headers): Promise<Reply> =>
  app.post(root, { name: 'mine', href, ...body }, headers);
const remove = (id: string, headers: Headers): Promise<Reply> =>
  app.send({ method: 'DELETE', path: `${root}/${id}`, headers });
const views = async (headers: Headers) =>
  (await app.get(root, headers)).body['views'] as readonly { id: string; name: string; href: string; isOwn: boolean }[];

describe('A saved view', () => {
  test('belongs to its owner only, who may delete it', async () => {
    const { status, body } = await save({}, ops);
    const { id } = body['view'] as { id: string };
    expect(status).toBe(201);
    expect(await views(ops)).toMatchObject([{ id, name: 'mine', href, tenantId: null, isOwn: true }]);
    expect(await views(other)).toEqual([]);
    expect((await remove(id, other)).status).toBe(404);
    expect((await remove(id, ops)).status).toBe(200);
    expect((await remove(id, ops)).status).toBe(404);
  });

  test('of a tenant is shown to all who may see the tenant, and deleted by anyone who may change it, because its owner may have left', async () => {
    const { id } = (await save({ tenantId: 'acme' }, ops)).body['view'] as { id: string };
    expect(await views(other)).toMatchObject([{ id, isOwn: false, tenantId: 'acme' }]);
    expect((await remove(id, await app.as('vera@example.com'))).status).toBe(404);
    expect((await remove(id, other)).status).toBe(200);
    expect(await views(ops)).toEqual([]);
  });

  test('is hidden from an admin of another tenant, who cannot share one with it', async () => {
    const boss = await app.as('boss@globex.example');
    const { id } = (await save({ tenantId: 'acme' }, ops)).body['view'] as { id: string };
    expect(await views(boss)).toEqual([]);
    expect((await remove(id, boss)).status).toBe(404);
    expect(await views(other)).toMatchObject([{ id, isOwn: false }]);
    const own = (await save({ tenantId: 'globex' }, boss)).body['view'] as { id: string };
    expect((await views(ops)).map((view) => view.id)).toEqual([id, own.id]);
    expect((await remove(own.id, boss)).status).toBe(200);
  });

  test('of a viewer is private: sharing one would be a change', async () => {
    const vera = await app.as('vera@example.com');
    expect((await save({ tenantId: 'acme' }, vera)).status).toBe(403);
    const { status, body } = await save({}, vera);
    expect(status).toBe(201);
    expect((await remove((body['view'] as { id: string }).id, vera)).status).toBe(200);
  });

  test('that is shared is audited when it is saved, withdrawn and deleted; a private one is not', async () => {
    const name = 'for the audit';
    const { id } = (await save({ name, tenantId: 'acme' }, ops)).body['view'] as { id: string };
    await save({ name }, ops);
    await save({ name }, ops);
    await save({ name, tenantId: 'acme' }, ops);
    await remove(id, ops);
    const { body } = await app.get(`/api/operator/audit?target=${encodeURIComponent(name)}`, ops);
    const row = { target: name, tenantId: 'acme', actor: 'ops@example.com', result: 'done' };
    const saved = { ...row, action: 'view.save' };
    expect(body['rows']).toMatchObject([{ ...row, action: 'view.delete' }, saved, saved, saved]);
    expect(body['rows']).toHaveLength(4);
  });

  test('is stored beside views of the same name that others save at the same time', async () => {
    await Promise.all([ops, other].flatMap((headers) => [save({}, headers), save({}, headers)]));
    expect([await views(ops), await views(other)]).toMatchObject([[{ isOwn: true }], [{ isOwn: true }]]);
  });

  test('is refused to an owner who has 50', async () => {
    for (let n = 0; n < 50; n += 1) expect((await save({ name: `view ${n}` }, ops)).status).toBe(201);
    expect((await save({ name: 'one more' }, ops)).status).toBe(409);
    expect((await save({ name: 'view 7', href: '/console/calls' }, ops)).status).toBe(201);
  });
});
