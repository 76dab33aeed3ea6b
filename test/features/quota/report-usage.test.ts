import { describe, expect, test } from 'vitest';
import { Unavailable } from '../../../src/kernel/errors.ts';
import { CONSOLE, service, somebody } from '../../support/app.ts';
import { DAY, HOUR, NOON, SECOND } from '../../support/clock.ts';
import { app, useApp } from '../../support/use-apps.ts';

const { build, database } = useApp();

const anybody = (): boolean => true;

/** A report, by default with a service token. */
function report(body: object, headers: Record<string, string> = service) {
  return app.post('/api/auth/usage', { tokens: 0, dollars: 0, ...body }, headers);
}

async function endReason(id: string): Promise<string | null | undefined> {
  return (await app.sessions.find(id))?.endReason;
}

describe('A usage report', () => {
  test('adds to the day’s totals, without drift', async () => {
    const email = somebody();
    for (let n = 0; n < 9; n += 1) await report({ email, tokens: 1, dollars: 0.1 });
    expect(await report({ email, tokens: 1, dollars: 0.000001 })).toMatchObject({
      status: 200,
      body: {
        ok: true,
        usage: {
          tokens: 10,
          dollars: 0.900001,
          dailyTokenLimit: 50_000,
          dailyDollarLimit: 1,
          resetAt: '2030-01-03T00:00:00.000Z',
        },
      },
    });
  });

  test('that exceeds a ceiling while the registry is away ends the sessions all the same', async () => {
    const ids = [await app.open(await app.key(), { email: 'x@example.com' })];
    const away = (): Promise<never> => Promise.reject(new Unavailable('registry'));
    const registry = { ...app.live.registry, load: away, save: away, recall: () => undefined, ofSubject: away };
    const half = await build({ clock: app.clock, live: { ...app.live, registry } });
    const body = { email: 'x@example.com', tenantId: 'acme', tokens: 300_001, dollars: 0 };
    expect(await half.post('/api/auth/usage', body, service)).toMatchObject({
      status: 429,
      body: { code: 'DAILY_QUOTA_EXCEEDED' },
    });
    for (const id of ids) expect(await half.sessions.find(id)).toMatchObject({ endReason: 'quota_exceeded' });
  });

  test('that reaches a ceiling is fine; one that exceeds it is counted and answered with 429', async () => {
    const email = somebody();
    expect((await report({ email, tokens: 50_000, dollars: 1 })).status).toBe(200);
    const over = { status: 429, body: { code: 'DAILY_QUOTA_EXCEEDED' } };
    expect(await report({ email, tokens: 0, dollars: 0.000001 })).toMatchObject(over);
    expect((await report({ email })).status).toBe(429);
    app.clock.set(NOON + DAY);
    expect((await report({ email, tokens: 7 })).body['usage']).toMatchObject({ tokens: 7, dollars: 0 });
  });

  test('that exceeds a ceiling ends all sessions of the subject and nobody else’s', async () => {
    const key = await app.key({ limits: { dailyTokens: 100 } });
    const [email, other] = [somebody(), somebody()];
    const mine = [await app.open(key, { email }), await app.open(key, { email })];
    const theirs = await app.open(key, { email: other });
    expect((await report({ sm_session_id: mine[0], email, tokens: 101 }, {})).status).toBe(429);
    expect(await Promise.all([...mine, theirs].map(endReason))).toEqual(['quota_exceeded', 'quota_exceeded', null]);
    const refused = await app.create(key, { email });
    expect(refused).toMatchObject({ status: 429, body: { code: 'DAILY_QUOTA_EXCEEDED' } });
  });

  test('of a widget’s user never touches the budget of the console user with the same address', async () => {
    const email = somebody();
    const id = await app.open(await app.key(), { email });
    await report({ sm_session_id: id, email, tokens: 1000 }, {});
    expect((await report({ email })).body['usage']).toMatchObject({ tokens: 0 });
    expect((await report({ email, tenantId: 'acme' })).body['usage']).toMatchObject({ tokens: 1000 });
  });

  test('that names a session is activity of it, though no heartbeat', async () => {
    const openedAt = app.clock.now();
    const id = await app.open(await app.key());
    app.clock.advance(300 * SECOND);
    await report({ sm_session_id: id, tokens: 1 }, {});
    const record = await app.sessions.find(id);
    expect(record).toMatchObject({ lastSeenAtMs: openedAt, lastActivityAtMs: app.clock.now() });
    app.clock.advance(300 * SECOND);
    const outcome = await app.sessions.heartbeat(id, app.clock.now(), undefined, anybody);
    expect(outcome?.record.endedAtMs).toBeNull();
  });

  test('of a session that has ended still counts', async () => {
    const id = await app.open(await app.key());
    await app.post('/api/realtime/end', { sm_session_id: id });
    expect((await report({ sm_session_id: id, tokens: 5 }, {})).body['usage']).toMatchObject({ tokens: 5 });
  });

  test('is counted for the key’s own limits', async () => {
    const id = await app.open(await app.key({ limits: { dailyTokens: 5, dailyDollars: 0.25 } }));
    const { body } = await report({ sm_session_id: id, tokens: 5, dollars: 0.25 }, {});
    expect(body['usage']).toMatchObject({ dailyTokenLimit: 5, dailyDollarLimit: 0.25 });
  });

  test('is refused with 503 while the database is away, and nothing is counted', async () => {
    const email = somebody();
    database().isAway = true;
    expect(await report({ email, tokens: 5 })).toMatchObject({ status: 503, body: { code: 'SERVICE_UNAVAILABLE' } });
    database().isAway = false;
    expect((await report({ email })).body['usage']).toMatchObject({ tokens: 0 });
  });
});

describe('A report with an Idempotency-Key', () => {
  const keyed = { ...service, 'idempotency-key': 'report-1' };

  test('is counted once, and gets the same reply again', async () => {
    const email = somebody();
    const first = await report({ email, tokens: 5, dollars: 0.5 }, keyed);
    await report({ email, tokens: 1 });
    app.clock.advance(11 * HOUR);
    const again = await report({ email, tokens: 5, dollars: 0.5 }, keyed);
    expect([again.status, again.body]).toEqual([first.status, first.body]);
    expect((await report({ email })).body['usage']).toMatchObject({ tokens: 6 });
  });

  test('is counted once also when it comes many times at once', async () => {
    const email = somebody();
    const replies = await Promise.all(Array.from({ length: 20 }, () => report({ email, tokens: 5 }, keyed)));
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    expect((await report({ email })).body['usage']).toMatchObject({ tokens: 5 });
  });

  test('and another body is refused and changes nothing', async () => {
    const email = somebody();
    await report({ email, tokens: 5 }, keyed);
    const refused = await report({ email, tokens: 6 }, keyed);
    expect(refused).toMatchObject({ status: 422, body: { code: 'IDEMPOTENCY_MISMATCH' } });
    expect((await report({ email })).body['usage']).toMatchObject({ tokens: 5 });
  });

  test('is another report under another subject', async () => {
    const [email, other] = [somebody(), somebody()];
    await report({ email, tokens: 5 }, keyed);
    expect((await report({ email: other, tokens: 6 }, keyed)).body['usage']).toMatchObject({ tokens: 6 });
  });

  test('of one session is another report than of another session, also of the same key’s visitors', async () => {
    const key = await app.key();
    const [one, other] = [await app.open(key), await app.open(key)];
    const headers = { 'idempotency-key': 'turn-1' };
    expect((await report({ sm_session_id: one, tokens: 5 }, headers)).body['usage']).toMatchObject({ tokens: 5 });
    expect((await report({ sm_session_id: other, tokens: 6 }, headers)).body['usage']).toMatchObject({ tokens: 11 });
    expect((await report({ sm_session_id: one, tokens: 5 }, headers)).body['usage']).toMatchObject({ tokens: 5 });
  });

  test('that exceeded the quota yesterday gets the same reply, and ends none of today’s sessions', async () => {
    const key = await app.key({ limits: { dailyTokens: 100 } });
    const email = somebody();
    const body = { email, tokens: 101, sm_session_id: await app.open(key, { email }) };
    const headers = { ...service, 'idempotency-key': 'late' };
    app.clock.set(NOON + 11 * HOUR);
    const first = await report(body, headers);
    app.clock.set(NOON + 13 * HOUR);
    const today = await app.open(key, { email });
    const again = await report(body, headers);
    expect([again.status, again.body]).toEqual([first.status, first.body]);
    expect(await endReason(today)).toBeNull();
  });

  test('that exceeded the quota yesterday logs nobody out today', async () => {
    const email = somebody();
    const headers = { 'idempotency-key': 'late', origin: CONSOLE };
    await report({ email, tokens: 50_001 }, { ...headers, cookie: await app.login(email) });
    app.clock.advance(20 * HOUR);
    const cookie = await app.login(email);
    const again = await report({ email, tokens: 50_001 }, { ...headers, cookie });
    expect([again.status, again.headers['set-cookie']]).toEqual([429, undefined]);
    expect((await app.get('/api/auth/session', { cookie })).status).toBe(200);
  });

  test('that is repeated the next day tells the day it was counted for', async () => {
    const email = somebody();
    const first = await report({ email, tokens: 5 }, keyed);
    app.clock.advance(20 * HOUR);
    expect((await report({ email, tokens: 5 }, keyed)).body).toEqual(first.body);
  });

  test('that exceeded the quota ends the sessions also when its first answer was lost on the way', async () => {
    const key = await app.key({ limits: { dailyTokens: 100 } });
    const email = somebody();
    const id = await app.open(key, { email });
    const { registry } = app.live;
    const ofSubject = registry.ofSubject.bind(registry);
    registry.ofSubject = () => {
      throw new Error('the process dies here');
    };
    const headers = { 'idempotency-key': 'lost' };
    expect((await report({ email, tokens: 101, sm_session_id: id }, headers)).status).toBe(500);
    registry.ofSubject = ofSubject;
    expect((await report({ email, tokens: 101, sm_session_id: id }, headers)).status).toBe(429);
    expect(await endReason(id)).toBe('quota_exceeded');
  });
});

describe('A console caller whose quota is exceeded', () => {
  test('is logged out: the cookie is cleared and the login destroyed', async () => {
    const email = somebody();
    const cookie = await app.login(email);
    const reply = await report({ email, tokens: 50_001 }, { cookie, origin: CONSOLE });
    expect(reply).toMatchObject({ status: 429, body: { code: 'DAILY_QUOTA_EXCEEDED' } });
    expect(reply.headers['set-cookie']).toBe('tenant_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax');
    expect((await app.get('/api/auth/session', { cookie })).status).toBe(401);
  });

  test('opens no session the same day, which logs it out as well', async () => {
    const email = somebody();
    await report({ email, tokens: 50_000 });
    const cookie = await app.login(email);
    const reply = await app.post('/api/session', {}, { cookie, origin: CONSOLE });
    expect(reply).toMatchObject({ status: 429, body: { code: 'DAILY_QUOTA_EXCEEDED' } });
    expect(reply.headers['set-cookie']).toContain('Max-Age=0');
    expect((await app.get('/api/auth/session', { cookie })).status).toBe(401);
  });

  test('stays logged in when somebody else’s quota is exceeded', async () => {
    const cookie = await app.login(somebody());
    const reply = await report({ email: somebody(), tokens: 50_001 }, { ...service, cookie, origin: CONSOLE });
    expect(reply.status).toBe(429);
    expect((await app.get('/api/auth/session', { cookie })).status).toBe(200);
  });
});
