import { describe, expect, test } from 'vitest';
import { CONSOLE, service, SERVICE_TOKEN, somebody } from '../support/app.ts';
import { errorOf } from './app.ts';
import { app, useApp } from '../support/use-apps.ts';

useApp();

const report = (body: object, headers: Record<string, string> = {}) =>
  app.post('/api/auth/usage', { tokens: 5, dollars: 0.25, ...body }, headers);

/** What is counted for an e-mail address. */
async function counted(body: { email: string; tenantId?: string }): Promise<unknown> {
  const reply = await report({ ...body, tokens: 0, dollars: 0 }, service);
  return (reply.body['usage'] as { tokens: number }).tokens;
}

describe('A usage report', () => {
  test('with the cookie of its e-mail is counted', async () => {
    const email = somebody();
    const reply = await report({ email }, await app.as(email));
    expect(reply.body).toEqual({
      ok: true,
      usage: { tokens: 5, dollars: 0.25, dailyTokenLimit: 50_000, dailyDollarLimit: 1, resetAt: expect.any(String) },
    });
  });

  test('with an sm_session_id is counted for the session’s subject, under the widget’s limits', async () => {
    const email = somebody();
    const sm_session_id = await app.open(await app.key(), { email });
    const { body } = await report({ email, sm_session_id });
    expect(body['usage']).toMatchObject({ tokens: 5, dailyTokenLimit: 300_000, dailyDollarLimit: 20 });
  });

  test('with a service token is counted for a console user, or for a tenant’s widget user', async () => {
    const email = somebody();
    expect((await report({ email }, service)).body['usage']).toMatchObject({ dailyTokenLimit: 50_000 });
    expect((await report({ email, tenantId: 'acme' }, service)).body['usage']).toMatchObject({
      tokens: 5,
      dailyTokenLimit: 300_000,
    });
  });

  test('without proof is 401 and counts nothing', async () => {
    const email = somebody();
    const other = await app.login(somebody());
    const attempts: Record<string, string>[] = [
      {},
      { cookie: other, origin: CONSOLE },
      { cookie: 'tenant_session=x' },
      { authorization: 'Bearer wrong' },
      { authorization: SERVICE_TOKEN },
      { authorization: `Basic ${SERVICE_TOKEN}` },
      { authorization: `Bearer ${SERVICE_TOKEN}x` },
      { authorization: 'Bearer ' },
    ];
    for (const headers of attempts)
      expect(errorOf(await report({ email }, headers))).toEqual({ status: 401, code: 'AUTH_REQUIRED' });
    expect(await counted({ email })).toBe(0);
  });

  test('with somebody else’s session is 404 and counts nothing for either', async () => {
    const [email, other] = [somebody(), somebody()];
    const sm_session_id = await app.open(await app.key(), { email: other });
    const cookie = await app.login(email);
    for (const headers of [{ cookie, origin: CONSOLE }, service])
      expect(errorOf(await report({ email, sm_session_id }, headers))).toEqual({
        status: 404,
        code: 'SESSION_NOT_FOUND',
      });
    expect(await counted({ email })).toBe(0);
    expect(await counted({ email: other, tenantId: 'acme' })).toBe(0);
  });

  test('without an e-mail is refused if the proof does not name one', async () => {
    for (const headers of [service, await app.as(somebody())]) {
      const reply = await report({}, headers);
      expect(errorOf(reply)).toEqual({ status: 400, code: 'INVALID_REQUEST' });
      expect(reply.body['details']).toMatchObject([{ path: 'email' }]);
    }
  });

  test('with an invalid body or Idempotency-Key counts nothing', async () => {
    const email = somebody();
    await report({ email, dollars: -1 }, service);
    const refused = await report({ email }, { ...service, 'idempotency-key': '' });
    expect(errorOf(refused)).toEqual({ status: 400, code: 'INVALID_REQUEST' });
    expect(refused.body['details']).toMatchObject([{ path: 'Idempotency-Key' }]);
    expect(await counted({ email })).toBe(0);
  });

  test('of the largest allowed amounts is counted exactly', async () => {
    const email = somebody();
    const key = await app.key({ limits: { dailyTokens: 1e12, dailyDollars: 1e6 } });
    const sm_session_id = await app.open(key, { email });
    for (let n = 0; n < 3; n += 1) await report({ email, sm_session_id, tokens: 1e9, dollars: 99_999.999999 });
    const { body } = await report({ email, sm_session_id, tokens: 0, dollars: 0.000003 });
    expect(body['usage']).toMatchObject({ tokens: 3e9, dollars: 300_000 });
  });

  test('of 0.1 + 0.2 dollars is counted as 0.3, and half of the sixth decimal is rounded up', async () => {
    const email = somebody();
    expect((await report({ email, dollars: 0.1 + 0.2 }, service)).body['usage']).toMatchObject({ dollars: 0.3 });
    expect((await report({ email, dollars: 0.000_000_5 }, service)).body['usage']).toMatchObject({ dollars: 0.300001 });
  });

  test('with a service token need not give the e-mail of the session that it names, though a wrong one is refused', async () => {
    const email = somebody();
    const sm_session_id = await app.open(await app.key(), { email });
    expect((await report({ sm_session_id }, service)).body['usage']).toMatchObject({ tokens: 5 });
    expect(errorOf(await report({ sm_session_id }))).toEqual({ status: 404, code: 'SESSION_NOT_FOUND' });
    expect(errorOf(await report({ sm_session_id, email: somebody() }, service))).toEqual({
      status: 404,
      code: 'SESSION_NOT_FOUND',
    });
  });

  test.each(['', null])('with the e-mail %j is treated as without one', async (email) => {
    const key = await app.key();
    expect((await report({ sm_session_id: await app.open(key), email })).status).toBe(200);
    const named = await app.open(key, { email: somebody() });
    expect(errorOf(await report({ sm_session_id: named, email }))).toEqual({ status: 404, code: 'SESSION_NOT_FOUND' });
    expect(errorOf(await report({ email }, service))).toEqual({ status: 400, code: 'INVALID_REQUEST' });
  });

  test('that is answered with 429 says that it was counted, and as what, the second time as well', async () => {
    const email = somebody();
    const over = {
      status: 429,
      body: {
        code: 'DAILY_QUOTA_EXCEEDED',
        counted: true,
        usage: {
          tokens: 50_001,
          dollars: 0,
          dailyTokenLimit: 50_000,
          dailyDollarLimit: 1,
          resetAt: '2030-01-03T00:00:00.000Z',
        },
      },
    };
    const headers = { ...service, 'idempotency-key': 'over' };
    for (let n = 0; n < 2; n += 1)
      expect(await report({ email, tokens: 50_001, dollars: 0 }, headers)).toMatchObject(over);
    expect(await counted({ email })).toBe(50_001);
  });
});
