import { beforeEach, describe, expect, test } from 'vitest';
import { Unavailable } from '../../src/kernel/errors.ts';
import { CONSOLE, somebody, type TestApp } from '../support/app.ts';
import { DAY, HOUR, MINUTE, NOON, SECOND } from '../support/clock.ts';
import { errorOf } from './app.ts';
import { useApps } from '../support/use-apps.ts';

const { build, database } = useApps();

let app: TestApp;
beforeEach(async () => {
  app = await build();
});

const send = (email: string) => app.post('/api/auth/otp/send', { email });
const verify = (email: string, code: string, headers: Record<string, string> = {}) =>
  app.post('/api/auth/otp/verify', { email, code }, headers);
const session = (cookie: string) => app.get('/api/auth/session', { cookie });

function codeFor(email: string): string {
  const mail = app.outbox.list().find(({ to }) => to === email);
  return /\b\d{6}\b/.exec(mail?.text ?? '')?.[0] ?? '';
}

const wrong = (code: string): string => String((Number(code) + 1) % 1_000_000).padStart(6, '0');

/** The name and value of a Set-Cookie header, as a browser sends them back. */
const pairOf = (setCookie: string | undefined): string => setCookie?.split(';', 1)[0] ?? '';

describe('Sending a code', () => {
  test('returns when it expires, and nothing else', async () => {
    const { status, body, headers } = await send(somebody());
    expect(status).toBe(200);
    expect(body).toEqual({ ok: true, message: expect.any(String), expiresIn: 600 });
    expect(headers['set-cookie']).toBeUndefined();
  });

  test('answers the same for an address that may not log in, which gets no mail', async () => {
    app = await build({ env: { CONSOLE_EMAILS: '@example.com' } });
    const [known, unknown] = [await send(somebody()), await send('stranger@example.org')];
    expect([unknown.status, unknown.body]).toEqual([known.status, known.body]);
    expect(app.outbox.list().map(({ to }) => to)).not.toContain('stranger@example.org');
  });

  test('is refused from the fourth time in an hour, with the time to wait, and the live code stays valid', async () => {
    const email = somebody();
    app.clock.set(NOON + 10 * MINUTE);
    for (let n = 0; n < 3; n += 1) expect((await send(email)).status).toBe(200);
    const refused = await send(` ${email.toUpperCase()}`);
    expect(errorOf(refused)).toEqual({ status: 429, code: 'RATE_LIMIT_EXCEEDED' });
    expect([refused.body['retryAfter'], refused.headers['retry-after']]).toEqual([3000, '3000']);
    expect((await verify(email, codeFor(email))).status).toBe(200);
    app.clock.set(NOON + HOUR);
    expect((await send(email)).status).toBe(200);
  });
});

describe('The device cookie', () => {
  async function logIn(email: string, cookie = ''): Promise<string> {
    await app.post('/api/auth/otp/send', { email }, { cookie });
    const reply = await verify(email, codeFor(email), { cookie });
    expect([reply.status, reply.cookies.length]).toEqual([200, 2]);
    return reply.cookies[1] ?? '';
  }

  test('is set by a login, for the paths of login codes only', async () => {
    const email = somebody();
    expect(await logIn(email)).toMatch(
      /^tenant_device_[0-9a-f]{16}=[\w-]+\.\d+\.[\w-]{43}; Path=\/api\/auth\/otp; Max-Age=15552000; HttpOnly; SameSite=Lax$/,
    );
    app = await build({ env: { PUBLIC_URL: 'https://voice.example.com' } });
    expect(await logIn(email)).toMatch(/; Secure$/);
  });

  test('gives its browser codes that strangers cannot use up, for its own e-mail address only', async () => {
    const [email, other] = [somebody(), somebody()];
    const cookie = pairOf(await logIn(email));
    const forged = cookie.replace(/\.\d+\./, '.9999999999999.');
    for (const address of [email, other]) for (let n = 0; n < 3; n += 1) await send(address);
    const ask = async (address: string, held: string) =>
      (await app.post('/api/auth/otp/send', { email: address }, { cookie: held })).status;
    expect([await ask(email, ''), await ask(email, forged), await ask(other, cookie)]).toEqual([429, 429, 429]);
    const named = cookie.replace(/^[^=]*/, pairOf(await logIn(somebody())).split('=', 1)[0] ?? '');
    expect(await ask(other, named)).toBe(429);
    expect(await ask(email, `a=b; ${cookie}`)).toBe(200);
    app.clock.advance(180 * DAY);
    for (let n = 0; n < 3; n += 1) await send(email);
    expect(await ask(email, cookie)).toBe(429);
  });

  test('survives a logout', async () => {
    const reply = await app.post('/api/auth/logout', {}, { origin: CONSOLE });
    expect(reply.cookies).toEqual([expect.stringMatching(/^tenant_session=;/)]);
  });
});

describe('Verifying a code', () => {
  test('spends the code only on a login that exists, whichever query fails', async () => {
    const tries: number[] = [];
    const repeats: number[] = [];
    while (tries.at(-1) !== 200) {
      const email = somebody();
      await send(email);
      database().answersLeft = tries.length;
      tries.push((await verify(email, codeFor(email))).status);
      database().answersLeft = Infinity;
      repeats.push((await verify(email, codeFor(email))).status);
    }
    expect(new Set(tries.slice(0, -1))).toEqual(new Set([503]));
    expect(repeats).toEqual([...tries.slice(1).map(() => 200), 401]);
  });

  test('logs in even if the former login cannot be ended', async () => {
    const email = somebody();
    const cookie = await app.login(email);
    await send(email);
    const body = { email, code: codeFor(email) };
    app.service.stores.logins.save = () => Promise.reject(new Unavailable('database'));
    expect((await app.post('/api/auth/otp/verify', body, { cookie })).status).toBe(200);
  });

  test('opens a session and sets the cookie with exactly the specified attributes', async () => {
    const email = somebody();
    await send(email);
    const { status, body, headers } = await verify(email, codeFor(email));
    expect(status).toBe(200);
    expect(body).toEqual({
      ok: true,
      session: { email, sessionId: expect.stringMatching(/^auth_/), expiresAt: new Date(NOON + DAY).toISOString() },
    });
    expect(headers['set-cookie']).toMatch(
      /^tenant_session=[\w-]+\.[\w-]+\.[\w-]+; Path=\/; Max-Age=86400; HttpOnly; SameSite=Lax$/,
    );
    expect((await session(pairOf(headers['set-cookie']))).body).toEqual({ ok: true, ...(body['session'] as object) });
  });

  test('sets a Secure cookie if the service is reached by https', async () => {
    app = await build({ env: { PUBLIC_URL: 'https://voice.example' } });
    const email = somebody();
    await send(email);
    expect((await verify(email, codeFor(email))).headers['set-cookie']).toMatch(/; SameSite=Lax; Secure$/);
  });

  test('is refused alike for a wrong, used, superseded, expired, never sent and locked code', async () => {
    const [email, other, late] = [somebody(), somebody(), somebody()];
    await send(email);
    const first = codeFor(email);
    const replies = [await verify(email, wrong(first)), await verify(other, first)];
    await send(email);
    replies.push(await verify(email, first === codeFor(email) ? wrong(first) : first));
    await verify(email, codeFor(email));
    replies.push(await verify(email, codeFor(email)));
    await send(late);
    app.clock.advance(10 * MINUTE);
    replies.push(await verify(late, codeFor(late)));
    await send(other);
    for (let n = 0; n < 5; n += 1) replies.push(await verify(other, wrong(codeFor(other))));
    replies.push(await verify(other, codeFor(other)));
    const bodies = new Set(replies.map(({ text }) => text));
    expect([bodies.size, errorOf(replies[0] ?? (await session('')))]).toEqual([
      1,
      { status: 401, code: 'INVALID_OTP' },
    ]);
    for (const { headers } of replies) expect(headers['set-cookie']).toBeUndefined();
  });

  test('works once, even when many try at once', async () => {
    const email = somebody();
    await send(email);
    const code = codeFor(email);
    const replies = await Promise.all(Array.from({ length: 4 }, () => verify(email, code)));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test('ends the login that the same browser had before', async () => {
    const email = somebody();
    const before = await app.login(email);
    await send(email);
    const reply = await verify(email, codeFor(email), { cookie: before, origin: CONSOLE });
    expect(reply.status).toBe(200);
    expect((await session(before)).status).toBe(401);
    expect((await session(pairOf(reply.headers['set-cookie']))).status).toBe(200);
  });
});

describe('The session check', () => {
  test.each(['', 'tenant_session=', 'tenant_session=x.y.z', 'other=1', 'tenant_session=a; tenant_session=b'])(
    'with the cookie "%s" is a 401, the only one without a code',
    async (cookie) => {
      const { status, body } = await session(cookie);
      expect([status, body]).toEqual([401, { ok: false, error: expect.any(String) }]);
    },
  );

  test('keeps a login valid while the user is active, and until a day after', async () => {
    const cookie = await app.login(somebody());
    app.clock.advance(MINUTE - 1);
    expect((await session(cookie)).headers['set-cookie']).toBeUndefined();
    app.clock.advance(1);
    const renewed = await session(cookie);
    expect(renewed.body['expiresAt']).toBe(new Date(NOON + MINUTE + DAY).toISOString());
    const next = pairOf(renewed.headers['set-cookie']);
    app.clock.advance(DAY - SECOND);
    expect((await session(next)).status).toBe(200);
    app.clock.advance(DAY);
    expect((await session(next)).status).toBe(401);
  });
});

describe('Logging out', () => {
  test('destroys the login on every node and clears the cookie', async () => {
    const cookie = await app.login(somebody());
    const { status, body, headers } = await app.post('/api/auth/logout', {}, { cookie, origin: CONSOLE });
    expect([status, body]).toEqual([200, { ok: true }]);
    expect(headers['set-cookie']).toBe('tenant_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax');
    expect((await session(cookie)).status).toBe(401);
    const elsewhere = await build();
    expect((await elsewhere.get('/api/auth/session', { cookie })).status).toBe(401);
  });

  test('works without a login, without a body and with an invalid one', async () => {
    for (const request of [{}, { body: '{' }, { body: '[]', headers: { 'content-type': 'text/plain' } }]) {
      const reply = await app.send({ method: 'POST', path: '/api/auth/logout', ...request });
      expect([reply.status, reply.headers['set-cookie']?.startsWith('tenant_session=;')]).toEqual([200, true]);
    }
  });

  test('is not reported as done if the database could not be told', async () => {
    const cookie = await app.login(somebody());
    await session(cookie);
    database().isAway = true;
    expect(errorOf(await app.post('/api/auth/logout', {}, { cookie }))).toEqual({
      status: 503,
      code: 'SERVICE_UNAVAILABLE',
    });
  });
});
