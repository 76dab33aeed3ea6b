import { beforeEach, describe, expect, test } from 'vitest';
import type { BotDetector, Verdict } from '../../src/bots/contract.ts';
import type { WidgetKey } from '../../src/stores/tenants/contract.ts';
import { CONSOLE, somebody } from '../support/app.ts';
import { errorOf } from './app.ts';
import { app, useApp } from '../support/use-apps.ts';

const { build } = useApp();

let key: WidgetKey;
beforeEach(async () => {
  key = await app.key();
});

describe('A bot verdict', () => {
  const verdict = (fields: Partial<Verdict>): BotDetector & { seen: unknown[] } => {
    const seen: unknown[] = [];
    return {
      seen,
      assess(evidence) {
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

  test('is requested with the headers, the client’s address and the request id, after key and origin are checked and before anything is spent', async () => {
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
        widget: expect.objectContaining({ key: strict, addressScope: '198.51.100.7' }),
      },
    ]);
    await app.service.directory.reload();
    expect((await app.create(strict)).status).toBe(200);
  });
});

describe('The demo key', () => {
  const origin = 'http://localhost:8123';
  const demo = { id: 'local', tenantId: 'demo', key: `w_demo_local_${'0'.repeat(32)}`, origin };
  const production = {
    NODE_ENV: 'production',
    PUBLIC_URL: 'https://voice.example.com',
    DATABASE_URL: 'postgres://not.asked/here',
    REDIS_URL: 'redis://not.asked',
    SMTP_URL: 'smtp://not.asked',
    UPSTREAM_PROVIDER: 'openai',
    OPENAI_API_KEY: 'not-used',
    JWT_SECRET: 'a-secret-that-only-the-tests-know-0123456789',
    CONSOLE_EMAILS: 'ops@example.com',
    BOT_PROVIDER: 'none',
    CALL_MODE: 'direct',
  };

  test('that a development server left in the database opens nothing in production', async () => {
    const admins = ['nobody@demo.example'];
    await app.service.stores.tenants.merge([{ id: 'demo', name: 'Demo', agents: [], admins, keys: [] }]);
    const key = await app.key(demo);
    expect((await app.create(key)).status).toBe(200);
    const served = await build({ env: production });
    expect(errorOf(await served.create(key))).toEqual({ status: 401, code: 'INVALID_WIDGET_KEY' });
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

  test('who sends a widget key counts as a widget caller, and needs its origin', async () => {
    const cookie = await app.login(somebody());
    expect(errorOf(await app.post('/api/session', { widgetKey: key.key }, { cookie, origin: CONSOLE })).code).toBe(
      'ORIGIN_MISMATCH',
    );
  });
});

describe('With REQUIRE_AUTH_FOR_SESSION', () => {
  test('nobody opens a session without a login, not even a widget', async () => {
    const strict = await build({ env: { REQUIRE_AUTH_FOR_SESSION: 'true' } });
    expect(errorOf(await strict.create(key))).toEqual({ status: 401, code: 'AUTH_REQUIRED' });
    expect(errorOf(await strict.post('/api/session'))).toEqual({ status: 401, code: 'AUTH_REQUIRED' });
    const cookie = await strict.login(somebody());
    expect((await strict.post('/api/session', {}, { cookie })).status).toBe(200);
    const own = await strict.key({ origin: CONSOLE });
    expect((await strict.create(own, {}, { cookie })).status).toBe(200);
  });
});
