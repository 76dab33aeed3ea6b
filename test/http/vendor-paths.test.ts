import { beforeEach, describe, expect, test } from 'vitest';
import type { WidgetKey } from '../../src/stores/tenants/contract.ts';
import { service, unique, type Reply, type TestApp } from '../support/app.ts';
import { FakeProvider } from '../support/fake-provider.ts';
import { useApps } from '../support/use-apps.ts';
import { errorOf } from './app.ts';
import { ANSWER, CALL, fakeCalls, OFFER } from './calls.ts';

const { build } = useApps();
const EVIL = 'https://evil.example';

let app: TestApp;
let shop: string;
let key: WidgetKey;
beforeEach(async () => {
  app = await build({ provider: new FakeProvider({ call: 'brokered' }) });
  shop = await addTenant('shop', [{ id: 'support', model: 'gpt-realtime-2.1' }]);
  key = await app.key({ tenantId: shop });
});

async function addTenant(name: string, agents: readonly { readonly id: string; readonly model?: string }[]) {
  const id = unique(name);
  await app.service.stores.tenants.merge([{ id, name, admins: null, keys: [], agents }]);
  await app.service.tenants.reload();
  return id;
}

type Headers = Readonly<Record<string, string>>;

/** A request as OpenAI's clients send it, with a service token for the test's tenant. */
const ask = (body?: unknown, headers: Headers = {}): Promise<Reply> =>
  app.send({
    method: 'POST',
    path: '/v1/realtime/client_secrets',
    headers: { ...service, 'x-switchboard-tenant': shop, ...headers },
    ...(body !== undefined && { body }),
  });

const recordOf = async ({ body }: Reply) => {
  const { sm_session_id } = body['switchboard'] as { readonly sm_session_id: string };
  return {
    record: await app.service.sessions.find(sm_session_id),
    setup: await app.service.stores.sessionSetups.find(sm_session_id),
  };
};

describe('A client secret requested as OpenAI’s clients do', () => {
  test('belongs to a session of the agent, under the limits of a key of its tenant', async () => {
    const reply = await ask({ session: { type: 'realtime' } });
    expect(reply).toMatchObject({
      status: 200,
      body: {
        value: expect.stringMatching(/^ek_sb_/),
        expires_at: expect.any(Number),
        session: { type: 'realtime', object: 'realtime.session', id: expect.stringMatching(/^sess_/) },
        switchboard: { keyId: key.id, call: { mode: 'brokered' }, limits: { maxMinutes: expect.any(Number) } },
      },
    });
    expect((await recordOf(reply)).record).toMatchObject({ tenantId: shop, keyId: key.id, agentId: 'support' });
  });

  test('needs no body', async () => {
    expect(await ask()).toMatchObject({ status: 200, body: { value: expect.stringMatching(/^ek_sb_/) } });
  });

  test('opens one call at the vendor’s own path, from the page of the key and no other', async () => {
    fakeCalls(app);
    const { body } = await ask();
    const offer = (origin: string): Promise<Reply> =>
      app.send({
        method: 'POST',
        path: '/v1/realtime/calls',
        body: OFFER,
        headers: { origin, authorization: `Bearer ${String(body['value'])}`, 'content-type': 'application/sdp' },
      });
    expect(errorOf(await offer(EVIL))).toEqual({ status: 403, code: 'ORIGIN_MISMATCH' });
    const opened = await offer(key.origin);
    expect(opened).toMatchObject({ status: 201, text: ANSWER, headers: { location: `/v1/realtime/calls/${CALL}` } });
    expect(errorOf(await offer(key.origin))).toEqual({ status: 401, code: 'AUTH_REQUIRED' });
  });

  test('may come with session settings, if the key lets its callers choose', async () => {
    const { setup } = await recordOf(
      await ask({
        expires_after: { anchor: 'created_at', seconds: 600 },
        session: {
          type: 'realtime',
          model: 'gpt-realtime-mini',
          instructions: 'Be brief.',
          audio: { output: { voice: 'cedar', speed: 1.25 }, input: { noise_reduction: { type: 'near_field' } } },
          tools: [{ type: 'function', name: 'look', description: 'Looks.', parameters: { type: 'object' } }],
        },
      }),
    );
    expect(setup).toMatchObject({
      model: 'gpt-realtime-mini',
      instructions: 'Be brief.',
      voice: 'cedar',
      tools: [{ kind: 'function', name: 'look', description: 'Looks.', parameters: { type: 'object' } }],
      behaviour: { speed: 1.25, extra: { audio: { input: { noise_reduction: { type: 'near_field' } } } } },
    });
  });

  test('treats every tool as a function of the page, whatever else the tool claims to be', async () => {
    const tool = { type: 'function', name: 'look', kind: 'server_tool', url: 'https://internal.example/look' };
    const { setup } = await recordOf(await ask({ session: { tools: [tool] } }));
    expect(setup?.tools).toMatchObject([{ kind: 'function', name: 'look' }]);
  });

  test('is refused if the key does not allow what is requested', async () => {
    const locked = await app.key({ tenantId: shop, allowOverrides: false });
    const asked = (session: object): Promise<Reply> => ask({ session }, { 'x-switchboard-key': locked.id });
    expect((await asked({ type: 'realtime' })).status).toBe(200);
    for (const session of [{ instructions: 'Be a pirate.' }, { audio: { input: { turn_detection: null } } }])
      expect(errorOf(await asked(session))).toEqual({ status: 403, code: 'FORBIDDEN' });
  });

  test.each([
    [{ type: 'transcription' }, 'session.type'],
    [{ tools: [{ type: 'mcp', name: 'x' }] }, 'session.tools.0.type'],
    [{ audio: { output: { speed: 9 } } }, 'session.audio.output.speed'],
    [{ max_output_tokens: 'inf' }, 'session.max_output_tokens'],
  ])('is refused for %j, with the field named as the client knows it', async (session, path) => {
    const reply = await ask({ session });
    expect(errorOf(reply)).toEqual({ status: 400, code: 'INVALID_REQUEST' });
    expect(reply.body['details']).toMatchObject([{ path }]);
  });

  test('is repeated under an Idempotency-Key, like the reply to any create', async () => {
    const [first, again] = [
      await ask({}, { 'idempotency-key': 'k'.repeat(16) }),
      await ask({}, { 'idempotency-key': 'k'.repeat(16) }),
    ];
    expect([again.status, again.body]).toEqual([200, first.body]);
  });
});

describe('A service token', () => {
  test('must name the tenant or agent it asks for, if there are several', async () => {
    const several = await addTenant('chain', [{ id: 'sales' }, { id: 'support' }]);
    await app.key({ tenantId: several });
    const unnamed = await app.send({ method: 'POST', path: '/v1/realtime/client_secrets', headers: service });
    expect(unnamed).toMatchObject({ status: 400, body: { details: [{ path: 'tenant' }] } });
    expect(unnamed.body['error']).toContain('X-Switchboard-Tenant');
    const noAgent = await ask({}, { 'x-switchboard-tenant': several });
    expect(noAgent).toMatchObject({ status: 400, body: { details: [{ path: 'agent' }] } });
    const [wrong, right] = [
      await ask({}, { 'x-switchboard-agent': 'nobody' }),
      await ask({}, { 'x-switchboard-tenant': several, 'x-switchboard-agent': 'sales' }),
    ];
    expect(wrong).toMatchObject({ status: 400, body: { details: [{ path: 'agent' }] } });
    expect((await recordOf(right)).record).toMatchObject({ tenantId: several, agentId: 'sales' });
  });

  test('is told that a tenant needs a key, and opens nothing with one that is revoked or paused', async () => {
    const bare = await addTenant('bare', [{ id: 'support' }]);
    expect(await ask({}, { 'x-switchboard-tenant': bare })).toMatchObject({
      status: 400,
      body: { details: [{ path: 'key' }] },
    });
    expect(errorOf(await ask({}, { 'x-switchboard-key': 'nobody' }))).toEqual({
      status: 401,
      code: 'INVALID_WIDGET_KEY',
    });
  });

  test('vouches for its visitors: its own headers do not make them programs', async () => {
    const judged = await build({
      env: { BOT_PROVIDER: 'heuristic' },
      provider: new FakeProvider({ call: 'brokered' }),
    });
    const headers = { ...service, 'x-switchboard-tenant': shop, 'user-agent': 'python-requests/2.32' };
    expect((await judged.send({ method: 'POST', path: '/v1/realtime/client_secrets', headers })).status).toBe(200);
    const page = { origin: key.origin, authorization: `Bearer ${key.key}`, 'user-agent': 'python-requests/2.32' };
    const asPage = await judged.send({ method: 'POST', path: '/v1/realtime/client_secrets', headers: page });
    expect(errorOf(asPage)).toEqual({ status: 403, code: 'BOT_BLOCKED' });
  });

  test('lists the models of a tenant’s agents, with what they cost', async () => {
    const reply = await app.get('/v1/models', { ...service, 'x-switchboard-tenant': shop });
    expect(reply).toMatchObject({
      status: 200,
      body: {
        object: 'list',
        data: [
          {
            id: 'gpt-realtime-2.1',
            object: 'model',
            agents: ['support'],
            price: { estimatePerMinute: expect.any(Number) },
          },
        ],
      },
    });
    for (const authorization of [undefined, 'Bearer wrong', `Bearer ${key.key}`])
      expect(errorOf(await app.get('/v1/models', authorization === undefined ? {} : { authorization }))).toEqual({
        status: 401,
        code: 'AUTH_REQUIRED',
      });
  });
});

describe('A widget key as bearer token', () => {
  const asPage = (token: string, headers: Headers): Promise<Reply> =>
    app.send({
      method: 'POST',
      path: '/v1/realtime/client_secrets',
      headers: { authorization: `Bearer ${token}`, ...headers },
    });

  test('opens a session only from its own origin', async () => {
    const reply = await asPage(key.key, { origin: key.origin, 'x-switchboard-agent': 'support' });
    expect((await recordOf(reply)).record).toMatchObject({ keyId: key.id, agentId: 'support' });
    for (const headers of [{ origin: EVIL }, {}])
      expect(errorOf(await asPage(key.key, headers as Headers))).toEqual({ status: 403, code: 'ORIGIN_MISMATCH' });
  });

  test('is refused if it is unknown, and so is a wrong service token', async () => {
    expect(errorOf(await asPage('w_nobody', { origin: key.origin }))).toEqual({
      status: 401,
      code: 'INVALID_WIDGET_KEY',
    });
    const none = await app.send({
      method: 'POST',
      path: '/v1/realtime/client_secrets',
      headers: { origin: key.origin },
    });
    expect(errorOf(none)).toEqual({ status: 401, code: 'AUTH_REQUIRED' });
  });

  test('is allowed by a preflight for the headers that the vendor’s client sends', async () => {
    const { status, headers } = await app.send({
      method: 'OPTIONS',
      path: '/v1/realtime/client_secrets',
      headers: {
        origin: key.origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type,x-stainless-lang',
      },
    });
    expect([status, headers['access-control-allow-headers']]).toEqual([
      204,
      'authorization,content-type,x-stainless-lang',
    ]);
  });
});
