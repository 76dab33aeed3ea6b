import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { WidgetKey } from '../../src/stores/tenants/contract.ts';
import { CONSOLE, somebody, type TestApp } from '../support/app.ts';
import { FakeProvider } from '../support/fake-provider.ts';
import { useApps } from '../support/use-apps.ts';
import { errorOf } from './app.ts';
import { exchange, fakeCalls, openBrokered } from './calls.ts';

const { build, database } = useApps();

let app: TestApp;
let key: WidgetKey;
beforeEach(async () => {
  app = await build({ provider: new FakeProvider({ call: 'brokered', callUrl: 'https://provider.example/calls' }) });
  key = await app.key();
});

const setupOf = (id: string) => app.service.stores.sessionSetups.find(id);

describe('A brokered session', () => {
  test('has a ticket of ours instead of the provider’s secret, and says where the call is opened', async () => {
    const { status, body } = await app.create(key);
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.stringMatching(/^sess_[A-Za-z0-9_-]{22}$/),
      sm_session_id: expect.stringMatching(/^s:[0-9a-f]{32}:[A-Za-z0-9_-]{22}$/),
      client_secret: {
        value: expect.stringMatching(/^ek_sb_[A-Za-z0-9_-]{43}$/),
        expires_at: Math.floor(app.clock.now() / 1000) + 60,
      },
      heartbeat: expect.anything(),
      limits: { maxMinutes: 15, maxIdleSec: 300 },
      call: { mode: 'brokered', url: `${CONSOLE}/api/realtime/calls`, dataChannel: 'open' },
      agent: { captions: false, greets: false, push: false, tellAi: true },
    });
    expect(await app.sessions.find(String(body['sm_session_id']))).toMatchObject({
      provider: 'fake',
      upstreamId: body['id'],
    });
  });

  test('asks nothing of the provider', async () => {
    await app.create(key);
    expect(app.provider.requests).toEqual([]);
  });

  test('says that its page gets no data channel', async () => {
    await app.service.stores.tenants.merge([
      {
        id: 'mute',
        name: 'Mute',
        admins: null,
        keys: [],
        agents: [{ id: 'mute', dataChannel: 'none', greeting: true }],
      },
    ]);
    const mute = await app.key({ tenantId: 'mute', agents: ['mute'], allowOverrides: false });
    const { body } = await app.create(mute);
    expect(body['call']).toMatchObject({ dataChannel: 'none' });
    // Without a data channel only the provider can transcribe the visitor.
    expect(body['agent']).toEqual({ captions: true, greets: true, push: false, tellAi: true });
    expect(await setupOf(String(body['sm_session_id']))).toMatchObject({
      dataChannel: 'none',
      forbidsOverrides: true,
      behaviour: { greeting: true, transcribe: {} },
    });
  });

  test.each([
    ['it names no model', { transcribe: {} }, 'of-the-provider', { model: 'of-the-provider' }],
    [
      'it names one',
      { transcribe: { model: 'its-own', words: ['Lascaux'] } },
      'of-the-provider',
      { model: 'its-own', words: ['Lascaux'] },
    ],
    ['it names none and the provider has none', { transcribe: {} }, null, undefined],
    ['it names one where the provider has none', { transcribe: { model: 'its-own' } }, null, { model: 'its-own' }],
    ['it wants none', { transcribe: false }, 'of-the-provider', false],
  ])('says what transcribes its visitor where %s', async (_, asked, transcriber, transcribe) => {
    const provider = new FakeProvider({ call: 'brokered' });
    provider.transcriber = transcriber;
    const its = await build({ provider });
    const { body } = await its.create(await its.key(), asked);
    const setup = await its.service.stores.sessionSetups.find(String(body['sm_session_id']));
    expect(setup?.behaviour?.transcribe).toEqual(transcribe);
    expect(body['agent']).toMatchObject({ captions: transcribe !== undefined && transcribe !== false });
  });

  test('of a provider without tools is refused if the create names some, and the field is named', async () => {
    const provider = new FakeProvider({ call: 'brokered' });
    provider.capabilities = { ...provider.capabilities, tools: false };
    const without = await build({ provider });
    const its = await without.key();
    const tool = { kind: 'http_tool', name: 'look_up' };
    const { status, body } = await without.create(its, { tools: [tool] });
    expect([status, body]).toMatchObject([
      400,
      { code: 'INVALID_REQUEST', details: [{ path: 'tools', message: expect.stringContaining('provider fake') }] },
    ]);
    expect((await without.create(its, { tools: [] })).status).toBe(200);
    expect((await app.create(key, { tools: [tool] })).status).toBe(200);
  });

  test('is available to the console as well', async () => {
    const cookie = await app.login(somebody());
    const { body } = await app.post('/api/session', { tenantId: 'acme' }, { cookie, origin: CONSOLE });
    expect(body['call']).toMatchObject({ mode: 'brokered' });
  });

  test('is returned again under its Idempotency-Key, with the same ticket, which opens one call', async () => {
    const headers = { 'idempotency-key': 'k'.repeat(20) };
    const [first, again] = [await app.create(key, {}, headers), await app.create(key, {}, headers)];
    expect(again.body).toEqual(first.body);
    fakeCalls(app);
    const { value: ticket } = first.body['client_secret'] as { readonly value: string };
    const replies = [
      await exchange(app, { ticket, origin: key.origin }),
      await exchange(app, { ticket, origin: key.origin }),
    ];
    expect(replies.map(({ status }) => status)).toEqual([201, 401]);
  });

  test('never has its ticket in a log', async () => {
    const { ticket, id } = await openBrokered(app, key, { metadata: { page: 'private-page' } });
    for (const secret of [ticket, ticket.slice(6), id, 'private-page']) expect(app.logged()).not.toContain(secret);
    expect(app.logged()).toContain('session.opened');
  });

  test('that cannot be saved takes no slot and does not count in the minute', async () => {
    const narrow = await app.key({ limits: { sessionsPerMinute: 1, concurrentSessions: 1 } });
    vi.spyOn(app.service.stores.history, 'insert').mockRejectedValueOnce(new Error('a defect'));
    expect(errorOf(await app.create(narrow))).toEqual({ status: 500, code: 'INTERNAL_ERROR' });
    expect((await app.create(narrow)).status).toBe(200);
  });

  test('is given up if its caller has hung up, takes no slot and does not count in the minute', async () => {
    const narrow = await app.key({ limits: { sessionsPerMinute: 1, concurrentSessions: 1 } });
    const request = { method: 'POST', path: '/api/session', body: { widgetKey: narrow.key } };
    const gone = AbortSignal.abort();
    await app.send({ ...request, headers: { origin: narrow.origin }, signal: gone });
    expect(await app.live.registry.size()).toBe(0);
    expect((await app.create(narrow)).status).toBe(200);
  });

  test('whose caller hung up has left no ticket', async () => {
    const count = () => database().run((sql) => sql<{ n: number }[]>`select count(*)::int as n from call_ticket`);
    const before = await count();
    const request = { method: 'POST', path: '/api/session', body: { widgetKey: key.key } };
    await app.send({ ...request, headers: { origin: key.origin }, signal: AbortSignal.abort() });
    expect(await count()).toEqual(before);
  });
});

describe('Whether a session is brokered', () => {
  const real = (call: 'brokered' | 'token') =>
    new FakeProvider({ call, isSimulated: false, callUrl: 'https://p.example/calls' });
  const modeOf = async (from: TestApp, fields: Partial<WidgetKey> = {}) => {
    const { body } = await from.create(await from.key(fields));
    return body['call'];
  };
  const brokered = { mode: 'brokered', url: `${CONSOLE}/api/realtime/calls`, dataChannel: 'open' };
  const direct = { mode: 'direct', url: 'https://p.example/calls', dataChannel: 'open' };

  test('depends on the key, and otherwise on CALL_MODE', async () => {
    const one = await build({ provider: real('brokered') });
    expect(await modeOf(one)).toEqual(direct);
    expect(await modeOf(one, { call: 'brokered' })).toEqual(brokered);
    const other = await build({ provider: real('brokered'), env: { CALL_MODE: 'brokered' } });
    expect(await modeOf(other)).toEqual(brokered);
    expect(await modeOf(other, { call: 'direct' })).toEqual(direct);
  });

  test('is not asked if the provider’s calls cannot be: the provider’s secret is minted', async () => {
    const one = await build({ provider: real('token'), env: { CALL_MODE: 'brokered' } });
    expect(await modeOf(one, { call: 'brokered' })).toEqual(direct);
    expect(one.provider.requests).toHaveLength(1);
  });
});

describe('What the creator notes on a session', () => {
  const many = (pairs: number) => Object.fromEntries(Array.from({ length: pairs }, (_, n) => [`k${n}`, 'v']));

  test.each([
    ['8 pairs', many(8)],
    ['512 bytes', { k: 'ü'.repeat(255), l: '' }],
    ['no pair', {}],
  ])('may contain %s, on a brokered session or another', async (_what, metadata) => {
    const { id } = await openBrokered(app, key, { metadata });
    expect(await setupOf(id)).toMatchObject({ callMode: 'brokered', metadata });
    const direct = await build();
    const words = {
      instructions: 'Say nothing.',
      tools: [{ kind: 'function', name: 'look', description: 'Looks.', parameters: { type: 'object' } }],
    };
    const other = await direct.open(key, { metadata, ...words });
    // The page has its words already, and opens its calls with them itself.
    expect(await setupOf(other)).toMatchObject({ callMode: 'direct', metadata, instructions: null, tools: [] });
  });

  test.each([
    ['9 pairs', many(9)],
    ['513 bytes', { k: 'ü'.repeat(256) }],
    ['a pair without a name', { '': 'v' }],
    ['a number', { k: 1 }],
    ['a list', ['k']],
    ['a text', 'k'],
  ])('may not contain %s', async (_what, metadata) => {
    const reply = await app.create(key, { metadata });
    expect(errorOf(reply)).toEqual({ status: 400, code: 'INVALID_REQUEST' });
    expect(JSON.stringify(reply.body['details'])).toContain('metadata');
  });

  test('is usually nothing, and then nothing is stored besides the record of a session whose page opens its calls', async () => {
    const direct = await build();
    expect(await setupOf(await direct.open(key))).toBeUndefined();
  });
});
