import { beforeAll, describe, expect, test } from 'vitest';
import { service, somebody, type TestApp } from '../support/app.ts';
import { errorOf } from './app.ts';
import { useApps } from '../support/use-apps.ts';

const { build, buildForFile, database } = useApps();

/** A service for tests that change nothing. */
let app: TestApp;
beforeAll(async () => {
  app = await buildForFile();
});

const posts = [
  '/api/session',
  '/api/realtime/heartbeat',
  '/api/realtime/end',
  '/api/realtime/rate',
  '/api/auth/otp/send',
  '/api/auth/otp/verify',
  '/api/auth/usage',
  '/api/auth/logout',
];
const gets = [
  '/api/auth/session',
  '/api/operator/overview',
  '/api/operator/sessions',
  '/healthz',
  '/readyz',
  '/metrics',
  '/openapi.json',
  '/docs',
];

describe('A method', () => {
  test.each([
    ...posts.flatMap((path) =>
      ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'post'].map((method) => [method, path, 'POST, OPTIONS']),
    ),
    ...gets.flatMap((path) =>
      ['POST', 'PUT', 'DELETE', 'CONNECT'].map((method) => [method, path, 'GET, HEAD, OPTIONS']),
    ),
  ] as [string, string, string][])(
    '%s that %s does not have is 405, and Allow lists what it has',
    async (method, path, allow) => {
      const reply = await app.send({ method, path, body: {} });
      expect(errorOf(reply)).toEqual({ status: 405, code: 'METHOD_NOT_ALLOWED' });
      expect(reply.headers['allow']).toBe(allow);
    },
  );

  test.each([...posts, ...gets])('OPTIONS is answered by %s', async (path) => {
    const reply = await app.send({ method: 'OPTIONS', path });
    expect([reply.status, reply.text]).toEqual([204, '']);
    expect(reply.headers['allow']).toMatch(/OPTIONS$/);
  });

  test('HEAD is answered like GET', async () => {
    expect(await app.send({ method: 'HEAD', path: '/healthz' })).toMatchObject({ status: 200, text: '{"ok":true}' });
  });
});

describe('A path', () => {
  test.each([
    '/api',
    '/api/',
    '/api/sessions',
    '/api/session/',
    '//api/session',
    '/API/session',
    '/api/session%2F',
    '/api/session;x=1',
    '/api/auth',
    '/api/auth/otp',
    '/api/realtime',
    '/constructor',
    '/__proto__',
    '/toString',
    '/api/operator/sessions//end',
    '/..%2f..%2fetc/passwd',
    '/docs/../package.json',
    '/docs/%2e%2e/main.js',
  ])('%s that does not exist is 404', async (path) => {
    expect(errorOf(await app.get(path))).toEqual({ status: 404, code: 'NOT_FOUND' });
    expect(errorOf(await app.post(path))).toEqual({ status: 404, code: 'NOT_FOUND' });
  });

  test('that is very long is not repeated in full', async () => {
    expect((await app.get(`/${'x'.repeat(5000)}`)).text.length).toBeLessThan(500);
  });

  test('is found whatever the query, and the query does not end up in a body', async () => {
    expect((await app.get('/healthz?x=1&x=2')).status).toBe(200);
    const reply = await app.send({ method: 'POST', path: `/api/auth/otp/send?email=${somebody()}`, body: {} });
    expect(errorOf(reply)).toMatchObject({ status: 400 });
  });
});

describe('Every reply', () => {
  test('has its request id and forbids sniffing, and is not stored unless everybody gets the same', async () => {
    const paths = ['/api/auth/session', '/api/nothing', '/metrics', '/healthz', '/nothing'];
    for (const path of paths) {
      const { headers } = await app.get(path);
      expect(headers['x-request-id']).toMatch(/^req_/);
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['content-type']).toBe('application/json; charset=utf-8');
      expect(headers['cache-control']).toBe(/^\/(api|metrics)/.test(path) ? 'no-store' : undefined);
    }
  });

  test('to a fault is 500 and reveals nothing internal', async () => {
    const faulty = await build();
    faulty.service.sessions.heartbeat = () => {
      throw new Error('the password is hunter2');
    };
    const reply = await faulty.post('/api/realtime/heartbeat', { sm_session_id: 's' });
    expect(errorOf(reply)).toEqual({ status: 500, code: 'INTERNAL_ERROR' });
    expect(reply.text).not.toContain('hunter2');
    expect(reply.text).toContain(reply.headers['x-request-id']);
  });

  test('while the database is away is 503 with Retry-After if the database is needed, and never 401', async () => {
    const cookie = await app.login(somebody());
    const stranger = await build();
    database().isAway = true;
    const reply = await stranger.get('/api/auth/session', { cookie });
    expect(errorOf(reply)).toEqual({ status: 503, code: 'SERVICE_UNAVAILABLE' });
    expect(reply.headers['retry-after']).toBe(String(reply.body['retryAfter']));
    expect(reply.text).toContain('database');
  });

  test('while the database is away is as usual if no login is needed, even with a cookie', async () => {
    const cookie = await app.login(somebody());
    const stranger = await build();
    database().isAway = true;
    const statuses = await Promise.all(
      ['/healthz', '/openapi.json', '/nothing', '/api/nothing', '/api/realtime/heartbeat'].map(
        async (path) => (await stranger.get(path, { cookie })).status,
      ),
    );
    expect(statuses).toEqual([200, 200, 404, 404, 405]);
  });
});

describe('A header that must be single and came twice', () => {
  test('is refused with a 400 that names it, and changes nothing', async () => {
    for (const name of ['authorization', 'cookie', 'origin', 'content-type', 'idempotency-key']) {
      const reply = await app.send({
        method: 'POST',
        path: '/api/auth/otp/send',
        body: { email: somebody() },
        duplicates: [name],
      });
      expect(errorOf(reply)).toEqual({ status: 400, code: 'INVALID_REQUEST' });
      expect(reply.body['error']).toContain(name);
    }
    expect(app.outbox.list()).toEqual([]);
  });
});

describe('A part of a path that names something', () => {
  test.each(['%00', 'a%00b', '%FF', '%ED%A0%80'])('finds nothing if no name can be %s', async (name) => {
    const call = await app.get(`/api/operator/calls/${name}`, service);
    const secret = await app.post(`/api/operator/secrets/${name}/delete`, { tenantId: 'acme' }, service);
    expect([call.status, secret.status]).toEqual([404, 404]);
  });
});
