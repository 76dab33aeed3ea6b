import { beforeEach, describe, expect, test } from 'vitest';
import type { WidgetKey } from '../../src/stores/tenants/contract.ts';
import { CONSOLE, service, SERVICE_TOKEN, somebody } from '../support/app.ts';
import { errorOf } from './app.ts';
import { app, useApp } from '../support/use-apps.ts';

const { build } = useApp();

let key: WidgetKey;
beforeEach(async () => {
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
      call: { mode: 'direct', url: null, dataChannel: 'open' },
      agent: { captions: false, greets: false, push: false, tellAi: true },
    });
  });

  test('returns the configured limits and addresses, and tells the provider how long it may last', async () => {
    const env = {
      PUBLIC_URL: 'https://voice.example',
      MAX_SESSION_MINUTES: '7',
      MAX_SESSION_IDLE_SEC: '60',
      HEARTBEAT_INTERVAL_SEC: '10',
    };
    const own = await build({ env });
    const { body } = await own.create(key);
    expect(body).toMatchObject({
      heartbeat: {
        intervalSec: 10,
        url: 'https://voice.example/api/realtime/heartbeat',
        socketUrl: 'wss://voice.example/api/realtime/socket',
      },
      limits: { maxMinutes: 7, maxIdleSec: 60 },
    });
    expect(own.provider.requests[0]).toMatchObject({ maxDurationSec: 420 });
  });

  test('is minted with the caller’s settings, otherwise the agent’s, otherwise the defaults', async () => {
    await app.create(key, { agentId: 'support', voice: 'cedar' });
    expect(app.provider.requests[0]).toMatchObject({
      model: 'gpt-realtime-2.1',
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

  test('identifies its user to the provider by the subject and nothing else', async () => {
    const { body } = await app.create(key, { email: somebody() });
    const hash = String(body['sm_session_id']).split(':')[1];
    expect(app.provider.requests[0]?.subjectHash).toBe(hash);
    expect(JSON.stringify(app.provider.requests[0])).not.toContain('@');
  });

  test('has a subject for each named user, otherwise for each key, and never a console user’s', async () => {
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
      'from a neighbouring port',
      () => ({ widgetKey: key.key }),
      () => ({ origin: `${key.origin}:8443` }),
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

  test('without a key learns where a service token opens sessions, with or without one', async () => {
    for (const headers of [service, { authorization: 'Bearer wrong' }, {}]) {
      const { body } = await app.post('/api/session', {}, headers);
      expect(body['error']).toContain('a service token alone asks POST /v1/realtime/client_secrets');
    }
  });

  test('without an origin is admitted if REQUIRE_ORIGIN_FOR_WIDGETS is false, and one from elsewhere still is not', async () => {
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
      model: 'gpt-realtime-2.1',
      voice: 'marin',
      tenantId: 'acme',
      agentId: 'support',
      tools: [tool],
      instructions: 'Help.',
    };
    expect((await app.create(key, body)).status).toBe(200);
  });
});
