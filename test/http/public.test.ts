import { beforeAll, describe, expect, test } from 'vitest';
import { createPipeline } from '../../src/http/pipeline.ts';
import type { HttpRequest } from '../../src/http/message.ts';
import { defineRoute, type Answer } from '../../src/http/route.ts';
import { CONSOLE, somebody, type TestApp } from '../support/app.ts';
import { NOON, SECOND } from '../support/clock.ts';
import { useApps } from '../support/use-apps.ts';

const { buildForFile, database } = useApps();

const files = [
  '/widget.js',
  '/widget.mjs',
  '/widget.d.ts',
  '/switchboard-widget.js',
  '/switchboard-widget.mjs',
  '/switchboard-widget.d.ts',
  '/switchboard-widget.css',
  '/switchboard-widget-de.mjs',
  '/switchboard-widget-challenge.mjs',
  '/switchboard-widget-talk.mjs',
];
const paths = [
  ...files,
  '/',
  '/demo',
  '/demo/config.json',
  '/demo/machines.json',
  '/demo/demo.js',
  '/docs',
  '/openapi.json',
  '/asyncapi.json',
  '/dev/mail',
  '/healthz',
  '/readyz',
  '/nothing',
];

let app: TestApp;
beforeAll(async () => {
  app = await buildForFile();
});

describe('A reply that is the same for everybody', () => {
  test.each(files)('is compressed for clients that accept it: %s', async (path) => {
    const plain = await app.get(path);
    const packed = await app.get(path, { 'accept-encoding': 'gzip, br' });
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(packed.headers['content-encoding']).toBe('gzip');
    expect(packed.headers['etag']).not.toBe(plain.headers['etag']);
    for (const { status, headers } of [plain, packed]) {
      expect(status).toBe(200);
      expect(headers).toMatchObject({
        vary: expect.stringContaining('Accept-Encoding'),
        'content-type': plain.headers['content-type'],
        'cross-origin-resource-policy': 'cross-origin',
      });
    }
  });

  test.each(paths)('hands out no login: %s neither reads the cookie nor renews it', async (path) => {
    const cookie = await app.login(somebody());
    app.clock.advance(120 * SECOND);
    // Stops the directory, which reads the tenants every few seconds: nothing else may ask the database meanwhile.
    await app.service.directory.stop();
    await database().settled();
    const asked = database().asked;
    for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS']) {
      const { headers } = await app.send({ method, path, body: {}, headers: { cookie } });
      expect(headers['set-cookie']).toBeUndefined();
    }
    // Readiness and the first page ask the database whether it answers, for each of their two requests that read.
    expect(database().asked - asked).toBe(['/readyz', '/'].includes(path) ? 2 : 0);
    const renewed = await app.get('/api/auth/session', { cookie });
    expect(renewed.headers).toMatchObject({
      'set-cookie': expect.stringContaining('Max-Age='),
      'cache-control': 'no-store',
    });
  });

  test('from the API still renews a login, even if none is needed', async () => {
    const cookie = await app.login(somebody());
    app.clock.advance(120 * SECOND);
    const { headers } = await app.get('/api/nothing', { cookie });
    expect(headers).toMatchObject({ 'set-cookie': expect.stringContaining('Max-Age='), 'cache-control': 'no-store' });
  });
});

describe('The widget SDK and the element', () => {
  test.each(files)('%s is readable by every origin, and says so once', async (path) => {
    const { origin } = await app.key();
    for (const from of [origin, CONSOLE, 'https://elsewhere.example']) {
      const { headers } = await app.get(path, { origin: from });
      expect(headers['access-control-allow-origin']).toBe('*');
      expect(headers['access-control-allow-credentials']).toBeUndefined();
    }
  });
});

describe('A reply that sets a cookie', () => {
  const login = { id: 'auth_1', email: 'ada@example.com', expiresAtMs: NOON };
  const cookie = { kind: 'set', token: 'new', expiresAtMs: NOON } as const;
  const kept = [['Cache-Control', 'public, max-age=300']] as const;
  const answers: [string, { renewedToken?: string }, Omit<Answer, 'status' | 'body'>][] = [
    ['renewed by the pipeline', { renewedToken: 'new' }, { headers: kept }],
    ['set by the handler', {}, { headers: kept, cookie }],
    ['written by the handler itself', {}, { headers: [...kept, ['set-cookie', 'other=1']] }],
  ];

  test.each(answers)('is not stored by caches, whatever its route says: a cookie %s', async (_, renewal, answer) => {
    const { service } = app;
    const logins = { ...service.identity.logins, authenticate: () => ({ login, ...renewal }) };
    const route = defineRoute({
      method: 'GET',
      path: '/page',
      summary: '',
      tag: 'hidden',
      access: 'console',
      replies: {},
      refusals: [],
      handle: () => ({ status: 200, body: '', ...answer }),
    });
    const handle = createPipeline([route], { ...service, identity: { ...service.identity, logins } });
    const request: HttpRequest = {
      method: 'GET',
      path: '/page',
      query: '',
      headers: { cookie: 'tenant_session=old' },
      duplicates: [],
      peer: '192.0.2.1',
      requestId: 'req_1',
      atMs: NOON,
      body: Buffer.alloc(0),
      signal: () => new AbortController().signal,
    };
    const { headers } = await handle(request);
    const named = (wanted: string) =>
      headers.filter(([name]) => name.toLowerCase() === wanted).map(([, value]) => value);
    expect(named('set-cookie').length).toBeGreaterThan(0);
    expect(named('cache-control')).toEqual(['no-store']);
  });
});
