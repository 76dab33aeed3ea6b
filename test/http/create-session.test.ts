import { beforeEach, describe, expect, test } from 'vitest';
import type { BotDetector, Verdict } from '../../src/bots/contract.ts';
import { Unavailable } from '../../src/kernel/errors.ts';
import type { WidgetKey } from '../../src/stores/tenants/contract.ts';
import { CONSOLE, SERVICE_TOKEN, somebody, type TestApp } from '../support/app.ts';
import { MINUTE } from '../support/clock.ts';
import { errorOf, useApps } from './app.ts';

const { build, database } = useApps();

let app: TestApp;
let key: WidgetKey;
beforeEach(async () => {
  app = await build();
  key = await app.key();
});

const tool = { kind: 'http_tool', name: 'find_order', description: 'Finds an order', url: 'https://acme.example/hook' };

describe('A created session', () => {
  test('has every field of the specification and of the contract', async () => {
    const { status, body } = await app.create(key);
    expect(status).toBe(200);
    expect(body).toEqual({
      id: 'sess_fake1',
      sm_session_id: expect.stringMatching(/^s:[0-9a-f]{32}:[A-Za-z0-9_-]{22}$/),
      client_secret: { value: 'ek_fake_1', expires_at: 1_900_000_001 },
      heartbeat: {
        intervalSec: 45,
        url: `${CONSOLE}/api/realtime/heartbeat`,
        socketUrl: 'ws://localhost:3000/api/realtime/socket',
      },
      limits: { maxMinutes: 15, maxIdleSec: 300 },
    });
  });

  test('tells the limits and addresses that are configured', async () => {
    const env = {
      PUBLIC_URL: 'https://voice.example',
      MAX_SESSION_MINUTES: '7',
      MAX_SESSION_IDLE_SEC: '60',
      HEARTBEAT_INTERVAL_SEC: '10',
    };
    const { body } = await (await build({ env })).create(key);
    expect(body).toMatchObject({
      heartbeat: {
        intervalSec: 10,
        url: 'https://voice.example/api/realtime/heartbeat',
        socketUrl: 'wss://voice.example/api/realtime/socket',
      },
      limits: { maxMinutes: 7, maxIdleSec: 60 },
    });
  });

  test('is minted with what the caller, else the agent, else the default says', async () => {
    await app.create(key, { agentId: 'support', voice: 'cedar' });
    expect(app.provider.requests[0]).toMatchObject({
      model: 'gpt-realtime',
      voice: 'cedar',
      instructions: 'Help the caller.',
      tools: [tool],
    });
    await app.create(key, {
      model: 'other-model',
      tools: [{ ...tool, parameters: { type: 'object' } }],
      instructions: 'Sing.',
    });
    expect(app.provider.requests[1]).toMatchObject({
      model: 'other-model',
      instructions: 'Sing.',
      tools: [{ parameters: { type: 'object' } }],
    });
  });

  test('tells the provider whom it is for by the subject and nothing else', async () => {
    const { body } = await app.create(key, { email: somebody() });
    const hash = String(body['sm_session_id']).split(':')[1];
    expect(app.provider.requests[0]?.subjectHash).toBe(hash);
    expect(JSON.stringify(app.provider.requests[0])).not.toContain('@');
  });

  test('has a subject per named user, per key otherwise, and never the console user’s', async () => {
    const email = somebody();
    const subjectOf = async (from: WidgetKey, body: object) => (await app.open(from, body)).split(':')[1];
    const other = await app.key();
    const subjects = [
      await subjectOf(key, { email }),
      await subjectOf(key, {}),
      await subjectOf(other, {}),
      app.service.subjects.console(email),
    ];
    expect(new Set(subjects).size).toBe(4);
    expect(await subjectOf(other, { email: ` ${email.toUpperCase()} ` })).toBe(subjects[0]);
    const globex = await app.key({ tenantId: 'globex' });
    expect(subjects).not.toContain(await subjectOf(globex, { email }));
  });
});

describe('A widget', () => {
  const refusals: [
    title: string,
    body: () => object,
    headers: () => Record<string, string>,
    status: number,
    code: string,
  ][] = [
    [
      'with an unknown key',
      () => ({ widgetKey: 'w_nobody' }),
      () => ({ origin: key.origin }),
      401,
      'INVALID_WIDGET_KEY',
    ],
    [
      'with a key of another tenant',
      () => ({ widgetKey: key.key, tenantId: 'globex' }),
      () => ({ origin: key.origin }),
      401,
      'INVALID_WIDGET_KEY',
    ],
    [
      'with a key in other letters',
      () => ({ widgetKey: key.key.toUpperCase() }),
      () => ({ origin: key.origin }),
      401,
      'INVALID_WIDGET_KEY',
    ],
    [
      'with the name of an object’s own',
      () => ({ widgetKey: '__proto__' }),
      () => ({ origin: key.origin }),
      401,
      'INVALID_WIDGET_KEY',
    ],
    ['without key and login', () => ({}), () => ({ origin: key.origin }), 401, 'INVALID_WIDGET_KEY'],
    [
      'with only a service token',
      () => ({}),
      () => ({ authorization: `Bearer ${SERVICE_TOKEN}` }),
      401,
      'INVALID_WIDGET_KEY',
    ],
    [
      'from another origin',
      () => ({ widgetKey: key.key }),
      () => ({ origin: 'https://evil.example' }),
      403,
      'ORIGIN_MISMATCH',
    ],
    [
      'from a subdomain of its origin',
      () => ({ widgetKey: key.key }),
      () => ({ origin: key.origin.replace('//', '//a.') }),
      403,
      'ORIGIN_MISMATCH',
    ],
    [
      'from its origin with a slash',
      () => ({ widgetKey: key.key }),
      () => ({ origin: `${key.origin}/` }),
      403,
      'ORIGIN_MISMATCH',
    ],
    [
      'from its origin in capitals',
      () => ({ widgetKey: key.key }),
      () => ({ origin: key.origin.toUpperCase() }),
      403,
      'ORIGIN_MISMATCH',
    ],
    ['from an opaque origin', () => ({ widgetKey: key.key }), () => ({ origin: 'null' }), 403, 'ORIGIN_MISMATCH'],
    ['from the console’s origin', () => ({ widgetKey: key.key }), () => ({ origin: CONSOLE }), 403, 'ORIGIN_MISMATCH'],
    [
      'without an origin',
      () => ({ widgetKey: key.key }),
      () => ({ referer: `${key.origin}/` }),
      403,
      'ORIGIN_MISMATCH',
    ],
  ];

  test.each(refusals)('%s is refused and nothing is spent', async (_title, body, headers, status, code) => {
    const reply = await app.post('/api/session', body(), headers());
    expect(errorOf(reply)).toEqual({ status, code });
    expect(app.provider.requests).toEqual([]);
    expect(await app.live.registry.size()).toBe(0);
  });

  test('without an origin is let in when REQUIRE_ORIGIN_FOR_WIDGETS is false, and one from elsewhere is still not', async () => {
    const lax = await build({ env: { REQUIRE_ORIGIN_FOR_WIDGETS: 'false' } });
    expect((await lax.post('/api/session', { widgetKey: key.key })).status).toBe(200);
    const elsewhere = await lax.post('/api/session', { widgetKey: key.key }, { origin: 'https://evil.example' });
    expect(elsewhere.status).toBe(403);
  });

  test('with a revoked key learns no more than one with an unknown key', async () => {
    const dead = await app.key({ revokedAtMs: 1 });
    const unknown = await app.post('/api/session', { widgetKey: 'w_nobody' }, { origin: dead.origin });
    expect((await app.create(dead)).body).toEqual(unknown.body);
    expect((await app.create(dead, {}, { origin: 'https://evil.example' })).body).toEqual(unknown.body);
  });

  test('is kept to the agents and the configuration of its key', async () => {
    const pinned = await app.key({ agents: ['support'], allowOverrides: false });
    const statuses = [];
    for (const body of [
      {},
      { agentId: 'support' },
      { voice: 'marin' },
      { agentId: 'sales' },
      { model: 'better' },
      { instructions: 'Sing.' },
      { tools: [] },
    ])
      statuses.push((await app.create(pinned, body)).status);
    expect(statuses).toEqual([200, 200, 200, 403, 403, 403, 403]);
    expect(errorOf(await app.create(pinned, { agentId: 'sales' }))).toEqual({ status: 403, code: 'FORBIDDEN' });
  });

  test('may send all fields of the specification’s example', async () => {
    const body = {
      model: 'gpt-realtime',
      voice: 'marin',
      tenantId: 'acme',
      agentId: 'support',
      tools: [tool],
      instructions: 'Help.',
    };
    expect((await app.create(key, body)).status).toBe(200);
  });
});

describe('A bot verdict', () => {
  const verdict = (fields: Partial<Verdict>): BotDetector & { seen: unknown[] } => {
    const seen: unknown[] = [];
    return {
      seen,
      judge(evidence) {
        seen.push(evidence);
        return { isBot: false, isVerifiedBot: false, confidence: 1, provider: 'http', ...fields };
      },
    };
  };

  test.each([
    [{ isBot: true }, 403],
    [{ isBot: true, confidence: 0 }, 403],
    [{ isBot: true, isVerifiedBot: true }, 200],
    [{ isVerifiedBot: true }, 200],
    [{}, 200],
  ])('of %j is answered with %i', async (fields, status) => {
    const judged = await build({ bots: verdict(fields) });
    const reply = await judged.create(key);
    expect(reply.status).toBe(status);
    expect(status === 200 || errorOf(reply).code === 'BOT_BLOCKED').toBe(true);
  });

  test('is asked for with the headers, the client’s address and the request id, after key and origin and before anything is spent', async () => {
    const bots = verdict({ isBot: true });
    const judged = await build({ bots });
    const strict = await judged.key({ limits: { sessionsPerMinute: 1 } });
    await judged.create(strict, {}, { origin: 'https://evil.example' });
    expect(bots.seen).toEqual([]);
    const reply = await judged.create(strict, {}, { 'x-bot-proof': 'abc' });
    expect(bots.seen).toEqual([
      {
        ip: '198.51.100.7',
        path: '/api/session',
        method: 'POST',
        requestId: reply.headers['x-request-id'],
        headers: expect.objectContaining({ 'x-bot-proof': 'abc' }),
      },
    ]);
    await app.service.directory.reload();
    expect((await app.create(strict)).status).toBe(200);
  });
});

describe('A console caller', () => {
  test('names a tenant only when more than one admits it', async () => {
    const anybody = await app.login(somebody());
    expect((await app.post('/api/session', {}, { cookie: anybody })).status).toBe(200);
    const boss = await app.login('boss@globex.example');
    const refused = await app.post('/api/session', {}, { cookie: boss });
    expect(errorOf(refused)).toEqual({ status: 400, code: 'INVALID_REQUEST' });
    expect(refused.body['details']).toMatchObject([{ path: 'tenantId' }]);
    expect((await app.post('/api/session', { tenantId: 'globex' }, { cookie: boss })).status).toBe(200);
  });

  test.each(['globex', 'nobody', '__proto__'])(
    'is not let into the tenant %s that does not admit it',
    async (tenantId) => {
      const cookie = await app.login(somebody());
      expect(errorOf(await app.post('/api/session', { tenantId }, { cookie }))).toEqual({
        status: 403,
        code: 'FORBIDDEN',
      });
    },
  );

  test('who sends a widget key is a widget caller, and needs its origin', async () => {
    const cookie = await app.login(somebody());
    expect(errorOf(await app.post('/api/session', { widgetKey: key.key }, { cookie, origin: CONSOLE })).code).toBe(
      'ORIGIN_MISMATCH',
    );
  });
});

describe('With REQUIRE_AUTH_FOR_SESSION', () => {
  test('nobody opens a session without a login, widgets included', async () => {
    const strict = await build({ env: { REQUIRE_AUTH_FOR_SESSION: 'true' } });
    expect(errorOf(await strict.create(key))).toEqual({ status: 401, code: 'AUTH_REQUIRED' });
    expect(errorOf(await strict.post('/api/session'))).toEqual({ status: 401, code: 'AUTH_REQUIRED' });
    const cookie = await strict.login(somebody());
    expect((await strict.post('/api/session', {}, { cookie })).status).toBe(200);
    const own = await strict.key({ origin: CONSOLE });
    expect((await strict.create(own, {}, { cookie })).status).toBe(200);
  });
});

describe('A create with an Idempotency-Key', () => {
  const keyed = { 'idempotency-key': 'create-1' };

  test('gives the same session again and mints once, also when both come at once', async () => {
    const [first, second] = await Promise.all([app.create(key, {}, keyed), app.create(key, {}, keyed)]);
    const third = await app.create(key, {}, keyed);
    expect([second?.body, third.body]).toEqual([first?.body, first?.body]);
    expect(app.provider.requests).toHaveLength(1);
  });

  test('is refused with another body, and forgotten after ten minutes', async () => {
    await app.create(key, {}, keyed);
    expect(errorOf(await app.create(key, { voice: 'cedar' }, keyed))).toEqual({
      status: 422,
      code: 'IDEMPOTENCY_MISMATCH',
    });
    app.clock.advance(10 * MINUTE);
    expect((await app.create(key, { voice: 'cedar' }, keyed)).status).toBe(200);
    expect(app.provider.requests).toHaveLength(2);
  });

  test('is another create for another key, tenant or console user', async () => {
    const globex = await app.key({ tenantId: 'globex', id: key.id });
    const email = somebody();
    const named = await app.key({ id: email });
    const replies = [
      await app.create(key, {}, keyed),
      await app.create(await app.key(), {}, keyed),
      await app.create(globex, {}, keyed),
      await app.create(named, {}, keyed),
      await app.post('/api/session', {}, { ...keyed, cookie: await app.login(email) }),
      await app.post('/api/session', {}, { ...keyed, cookie: await app.login(somebody()) }),
    ];
    expect(new Set(replies.map(({ body }) => body['sm_session_id'])).size).toBe(6);
  });

  test('that was refused may be tried again', async () => {
    const { answer } = app.provider;
    app.provider.answer = () => Promise.reject(new Error('away'));
    expect((await app.create(key, {}, keyed)).status).toBe(500);
    app.provider.answer = answer;
    expect((await app.create(key, {}, keyed)).status).toBe(200);
  });

  test('does not answer one whose key was revoked since, or who comes from elsewhere', async () => {
    await app.create(key, {}, keyed);
    expect((await app.create(key, {}, { ...keyed, origin: 'https://evil.example' })).status).toBe(403);
    await app.service.stores.tenants.revoke('acme', key.id, app.clock.now());
    await app.service.directory.reload();
    expect((await app.create(key, {}, keyed)).status).toBe(401);
  });

  test('is opened also when its reply cannot be kept', async () => {
    const { replays } = app.service.stores;

    replays.keep = () => Promise.reject(new Unavailable('database'));
    expect((await app.create(key, {}, keyed)).status).toBe(200);
  });

  test.each(['', 'k'.repeat(256)])('of %j is refused', async (text) => {
    const reply = await app.create(key, {}, { 'idempotency-key': text });
    expect(errorOf(reply)).toEqual({ status: 400, code: 'INVALID_REQUEST' });
    expect(reply.body['details']).toMatchObject([{ path: 'Idempotency-Key' }]);
  });

  test('keeps no client secret in the open', async () => {
    const { body } = await app.create(key, {}, { 'idempotency-key': 'sealed' });
    const { value } = body['client_secret'] as { value: string };
    const rows = await database().run(
      (sql) => sql<{ sealed: Buffer | null; key_hash: string }[]>`select sealed, key_hash from replay`,
    );
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows) {
      expect(row.sealed?.toString('latin1') ?? '').not.toContain(value);
      expect(row.key_hash).not.toContain('sealed');
    }
  });
});
