import { beforeEach, describe, expect, test } from 'vitest';
import type { WidgetKey } from '../../src/stores/tenants/contract.ts';
import { service, STAFF, unique, type Reply, type TestApp } from '../support/app.ts';
import { FakeProvider } from '../support/fake-provider.ts';
import { useApps } from '../support/use-apps.ts';
import { errorOf, whyRefused } from './app.ts';

const { build } = useApps();
const CUSTOMER = 'a-customer-whom-only-tools-know';
const context = { customer: CUSTOMER, roles: ['gold'] };

let app: TestApp;
let key: WidgetKey;
let plain: WidgetKey;
beforeEach(async () => {
  app = await build({ env: STAFF, provider: new FakeProvider({ call: 'brokered' }) });
  const id = unique('shop');
  const tool = { kind: 'server_tool', name: 'look', url: 'https://api.example/look' };
  await app.service.stores.tenants.merge([
    { id, name: 'Shop', admins: null, keys: [], agents: [{ id: 'support', tools: [tool] }, { id: 'plain' }] },
  ]);
  key = await app.key({ tenantId: id, agents: ['support'] });
  plain = await app.key({ tenantId: id, agents: ['plain'] });
});

const create = (body: object, headers: Readonly<Record<string, string>> = service, of = key): Promise<Reply> =>
  app.create(of, body, headers);

const setupOf = ({ body }: Reply) => app.service.stores.sessionSetups.find(String(body['sm_session_id']));

const detailOf = (reply: Reply) =>
  app.get(`/api/operator/sessions/${encodeURIComponent(String(reply.body['sm_session_id']))}`, service);

describe('The context of a create', () => {
  test('is stored sealed for the session’s tools, and operators see only that there is one', async () => {
    const reply = await create({ context });
    expect(reply.status).toBe(200);
    const setup = await setupOf(reply);
    const sealed = Buffer.from(setup?.sealedContext ?? '', 'base64');
    expect(JSON.parse(app.service.core.contexts?.open(sealed, String(reply.body['sm_session_id'])) ?? '')).toEqual(
      context,
    );
    const detail = await detailOf(reply);
    expect(detail.body).toMatchObject({ hasContext: true });
    const told = [reply.body, setup, detail.body, (await app.get('/api/operator/audit', service)).body];
    expect(JSON.stringify(told)).not.toContain(CUSTOMER);
  });

  test('is refused from pages and with wrong tokens, which are told what to do', async () => {
    const strangers: Readonly<Record<string, string>>[] = [{}, { authorization: 'Bearer wrong' }];
    for (const headers of strangers) {
      const reply = await create({ context }, headers);
      expect(errorOf(reply)).toEqual({ status: 403, code: 'FORBIDDEN' });
      expect(reply.body['details']).toMatchObject([
        { path: 'context', message: expect.stringContaining('send a service token') as string },
      ]);
      expect(await whyRefused(app, reply)).toContain('SERVICE_TOKENS');
    }
    expect((await create({ metadata: { page: 'x' } }, {})).status).toBe(200);
  });

  test('must be an object, as a back end that sends anything else is told', async () => {
    const reply = await create({ context: 'gold' });
    expect(errorOf(reply)).toEqual({ status: 400, code: 'INVALID_REQUEST' });
    expect(reply.body['details']).toEqual([{ path: 'context', message: 'must be an object' }]);
  });

  test.each([['text'], [['list']], [null], [7]])('must not be %j', async (wrong) => {
    const reply = await create({ context: wrong });
    expect(errorOf(reply)).toEqual({ status: 400, code: 'INVALID_REQUEST' });
    expect(reply.body['details']).toMatchObject([{ path: 'context' }]);
  });

  test('may have 2 KiB as JSON', async () => {
    expect((await create({ context: { note: 'x'.repeat(2038) } })).status).toBe(400);
    expect((await create({ context: { note: 'x'.repeat(2037) } })).status).toBe(200);
  });

  test('is not stored if the agent has no tool that would receive it', async () => {
    const reply = await create({ context }, service, plain);
    expect(await setupOf(reply)).toMatchObject({ sealedContext: null });
    expect((await detailOf(reply)).body).toMatchObject({ hasContext: false });
  });
});

describe('The version of an agent', () => {
  const versionOf = async (): Promise<unknown> => (await detailOf(await create({}))).body['agentVersion'];

  test('is the same for the same definition, and changes with it', async () => {
    const first = await versionOf();
    expect(first).toMatch(/^[0-9a-f]{12}$/);
    expect(await versionOf()).toBe(first);
    const tool = { url: 'https://api.example/look', name: 'look', kind: 'server_tool' };
    const tenant = { id: key.tenantId, name: 'Shop', admins: null, keys: [] };
    const merge = async (agent: object): Promise<unknown> => {
      await app.service.stores.tenants.merge([{ ...tenant, agents: [{ id: 'support', ...agent }, { id: 'plain' }] }]);
      await app.service.directory.reload();
      return versionOf();
    };
    expect(await merge({ tools: [tool] })).toBe(first);
    // The version leaves out headers: they may hold a secret, and a hash would reveal something about it.
    expect(await merge({ tools: [{ ...tool, headers: { authorization: 'Bearer 1234' } }] })).toBe(first);
    expect(await merge({ tools: [{ ...tool, say: 'One moment.' }] })).not.toBe(first);
    expect(await merge({ tools: [tool], instructions: 'x' })).not.toBe(first);
  });
});
