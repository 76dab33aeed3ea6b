import { beforeAll, describe, expect, test } from 'vitest';
import type { WidgetKey } from '../../src/stores/tenants/contract.ts';
import { CONSOLE, somebody, type Reply, type TestApp } from '../support/app.ts';
import { errorOf } from './app.ts';
import { useApps } from '../support/use-apps.ts';
import { changedAt } from '../support/key-change.ts';

const { buildForFile } = useApps();
const CDN = 'https://console.acme.example';

let app: TestApp;
let key: WidgetKey;
beforeAll(async () => {
  app = await buildForFile({ env: { CONSOLE_ORIGINS: `${CONSOLE},${CDN}` } });
  key = await app.key();
});

const widgetPaths = [
  '/api/session',
  '/api/realtime/heartbeat',
  '/api/realtime/end',
  '/api/realtime/rate',
  '/api/realtime/ticket',
  '/api/auth/usage',
];
const consolePaths = [
  '/api/auth/otp/send',
  '/api/auth/otp/verify',
  '/api/auth/logout',
  '/api/auth/session',
  '/api/operator/overview',
  '/api/nothing',
  '/nothing',
  '/metrics',
  '/healthz',
];

function cors({ headers }: Reply) {
  return {
    origin: headers['access-control-allow-origin'],
    credentials: headers['access-control-allow-credentials'],
    exposes: headers['access-control-expose-headers'] !== undefined,
    allows: headers['access-control-allow-methods'] ?? headers['access-control-max-age'],
    vary: headers['vary']?.split(', ').find((name) => name === 'Origin'),
  };
}

const none = { origin: undefined, credentials: undefined, exposes: false, allows: undefined, vary: 'Origin' };

describe('A widget’s origin', () => {
  test.each(widgetPaths)('may read %s, errors and preflight included, without credentials', async (path) => {
    const allowed = { origin: key.origin, credentials: undefined, exposes: true, allows: undefined, vary: 'Origin' };
    const headers = { origin: key.origin };
    const replies = [
      await app.post(path, '{', headers),
      await app.send({ method: 'GET', path, headers }),
      await app.send({ method: 'OPTIONS', path, headers: { ...headers, 'access-control-request-method': 'POST' } }),
    ];
    expect(replies.map(({ status }) => status)).toEqual([400, 405, 204]);
    expect(replies.map(cors)).toEqual([allowed, allowed, { ...allowed, allows: 'POST, OPTIONS' }]);
  });

  test('may read a 404 for an unknown path under those of sessions', async () => {
    const reply = await app.post('/api/realtime/heartbeats', {}, { origin: key.origin });
    expect([reply.status, cors(reply).origin]).toEqual([404, key.origin]);
  });

  test.each(consolePaths)('may not read %s', async (path) => {
    for (const method of ['GET', 'POST', 'OPTIONS'])
      expect(cors(await app.send({ method, path, body: {}, headers: { origin: key.origin } }))).toEqual(none);
  });

  test('is forgotten with the last key bound to it', async () => {
    const { id, origin } = await app.key();
    const twin = await app.key({ origin });
    const seen = async () => cors(await app.post('/api/session', {}, { origin })).origin;
    const revoke = async (keyId: string) => {
      await app.service.stores.tenants.revoke('acme', keyId, changedAt(app.clock.now()));
      await app.service.directory.reload();
    };
    await revoke(twin.id);
    expect(await seen()).toBe(origin);
    await revoke(id);
    expect(await seen()).toBeUndefined();
  });
});

describe('A console origin', () => {
  test.each([...widgetPaths, ...consolePaths])('may read %s with credentials', async (path) => {
    for (const method of ['GET', 'POST', 'OPTIONS'])
      expect(cors(await app.send({ method, path, body: {}, headers: { origin: CDN } }))).toMatchObject({
        origin: CDN,
        credentials: 'true',
        exposes: true,
        vary: 'Origin',
      });
  });
});

describe('Any other origin', () => {
  test.each([
    'https://evil.example',
    'null',
    '*',
    '',
    'https://www.acme.example.evil.example',
    'http://localhost:3000/',
    'HTTP://LOCALHOST:3000',
    'http://localhost',
    'https://console.acme.example:443',
  ])('"%s" gets no header that would let it read anything', async (origin) => {
    for (const path of [...widgetPaths, '/api/auth/session'])
      for (const method of ['GET', 'POST', 'OPTIONS'])
        expect(cors(await app.send({ method, path, body: {}, headers: { origin } }))).toEqual(none);
  });
});

describe('A preflight', () => {
  const preflight = (asked?: string) =>
    app.send({
      method: 'OPTIONS',
      path: '/api/session',
      headers: {
        origin: key.origin,
        'access-control-request-method': 'POST',
        ...(asked === undefined ? {} : { 'access-control-request-headers': asked }),
      },
    });

  test('lists methods and how long the answer is valid, and allows the headers that bot detection adds', async () => {
    const { headers } = await preflight('content-type,x-bot-proof, idempotency-key');
    expect(headers).toMatchObject({
      'access-control-allow-methods': 'POST, OPTIONS',
      'access-control-allow-headers': 'content-type,x-bot-proof, idempotency-key',
      'access-control-max-age': '7200',
    });
  });

  test.each([undefined, '', 'x\u0001y', 'a'.repeat(1025), 'x:y', '*'])(
    'that asks for %j gets the usual headers',
    async (asked) => {
      expect((await preflight(asked)).headers['access-control-allow-headers']).toBe(
        'Content-Type, Idempotency-Key, X-Switchboard-Challenge',
      );
    },
  );
});

describe('A request that uses the console cookie to change something', () => {
  const changes: [string, object][] = [
    ['/api/session', {}],
    ['/api/auth/logout', {}],
    ['/api/auth/usage', { tokens: 1, dollars: 0 }],
    ['/api/operator/sessions/s/end', {}],
  ];

  test.each(changes)('%s is refused from a foreign origin, and nothing has changed', async (path, body) => {
    const email = somebody();
    const cookie = await app.login(email);
    const { length } = app.provider.requests;
    const foreign: Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { origin: key.origin },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
    ];
    for (const headers of foreign) {
      const sent = path.startsWith('/api/operator/') ? body : { email, ...body };
      const reply = await app.post(path, sent, { cookie, ...headers });
      expect(errorOf(reply)).toEqual({ status: 403, code: 'ORIGIN_MISMATCH' });
    }
    expect(await app.get('/api/auth/session', { cookie })).toMatchObject({ status: 200 });
    expect(app.provider.requests).toHaveLength(length);
    const usage = await app.post('/api/auth/usage', { email, tokens: 0, dollars: 0 }, { cookie, origin: CDN });
    expect(usage.body['usage']).toMatchObject({ tokens: 0 });
  });

  test.each<Record<string, string>>([
    { origin: CONSOLE },
    { origin: CDN },
    {},
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none' },
    { origin: CDN, 'sec-fetch-site': 'cross-site' },
  ])('is allowed with %j', async (headers) => {
    const cookie = await app.login(somebody());
    expect((await app.post('/api/auth/logout', {}, { cookie, ...headers })).status).toBe(200);
  });

  test('does not include one with other proof: a widget’s page that has a console cookie', async () => {
    const email = somebody();
    const cookie = await app.login(email);
    const headers = { cookie, origin: key.origin };
    const created = await app.post('/api/session', { widgetKey: key.key }, headers);
    expect(created.status).toBe(200);
    const body = { sm_session_id: created.body['sm_session_id'] };
    expect((await app.post('/api/realtime/heartbeat', body, headers)).status).toBe(200);
    expect((await app.post('/api/auth/usage', { ...body, tokens: 1, dollars: 0 }, headers)).status).toBe(200);
    expect((await app.post('/api/realtime/end', body, headers)).status).toBe(200);
  });

  test('includes a login: a foreign page may not log its visitor in as somebody else', async () => {
    const email = somebody();
    await app.post('/api/auth/otp/send', { email });
    const code = /\b\d{6}\b/.exec(app.outbox.list()[0]?.text ?? '')?.[0];
    const foreign: Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { origin: key.origin },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
    ];
    for (const headers of foreign) {
      const reply = await app.post('/api/auth/otp/verify', { email, code }, headers);
      expect(errorOf(reply)).toEqual({ status: 403, code: 'ORIGIN_MISMATCH' });
      expect(reply.headers['set-cookie']).toBeUndefined();
    }
    // The refused attempts did not spend the code.
    expect((await app.post('/api/auth/otp/verify', { email, code }, { origin: CDN })).status).toBe(200);
  });

  test('includes a logout even without a cookie, because the reply to a foreign page’s form would clear the cookie', async () => {
    const reply = await app.post('/api/auth/logout', {}, { origin: 'https://evil.example' });
    expect(errorOf(reply)).toEqual({ status: 403, code: 'ORIGIN_MISMATCH' });
    expect(reply.headers['set-cookie']).toBeUndefined();
    expect((await app.post('/api/auth/logout')).headers['set-cookie']).toContain('Max-Age=0');
  });
});
