import { describe, expect, test } from 'vitest';
import type { HttpRequest } from '../../src/http/message.ts';
import { createUnreadCount } from '../../src/http/steps/rate-limit.ts';
import { SERVICE_TOKEN, somebody, type Reply } from '../support/app.ts';
import { ManualClock, NOON, SECOND } from '../support/clock.ts';
import { errorOf } from './app.ts';
import { useApps } from '../support/use-apps.ts';

const { build } = useApps();

function windowOf({ headers }: Reply) {
  return [headers['x-ratelimit-limit'], headers['x-ratelimit-remaining'], headers['x-ratelimit-reset']];
}

const resetAt = String(NOON / 1000 + 60);

describe('The window of an address', () => {
  test('admits its limit, counts down, and refuses more until the next minute', async () => {
    const app = await build({ env: { RATE_IP_PER_MIN: '3' }, clock: new ManualClock(NOON + 12_345) });
    const replies = [];
    for (let n = 0; n < 5; n += 1) replies.push(await app.get('/api/auth/session'));
    expect(replies.map(({ status }) => status)).toEqual([401, 401, 401, 429, 429]);
    expect(replies.map(windowOf)).toEqual([
      ['3', '2', resetAt],
      ['3', '1', resetAt],
      ['3', '0', resetAt],
      ['3', '0', resetAt],
      ['3', '0', resetAt],
    ]);
    const [refused] = replies.slice(3);
    expect(refused?.body).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', retryAfter: 48 });
    expect(refused?.headers['retry-after']).toBe('48');
    app.clock.set(NOON + 60 * SECOND);
    expect((await app.get('/api/auth/session')).status).toBe(401);
  });

  test('is 60 requests by default, and refuses before anything else is checked', async () => {
    const app = await build({ env: { RATE_IP_PER_MIN: '' } });
    const statuses = [];
    for (let n = 0; n < 61; n += 1) statuses.push((await app.post('/api/auth/otp/send', '{')).status);
    expect([new Set(statuses.slice(0, 60)), statuses[60]]).toEqual([new Set([400]), 429]);
    const whatever = [
      await app.get('/api/nothing'),
      await app.send({ method: 'OPTIONS', path: '/api/session' }),
      await app.get('/api/session'),
    ];
    expect(whatever.map(({ status }) => status)).toEqual([429, 429, 429]);
    for (const reply of whatever) expect(errorOf(reply).code).toBe('RATE_LIMIT_EXCEEDED');
  });

  test('also counts requests that reach no handler, by the address that a proxy reports', async () => {
    const app = await build({ env: { RATE_IP_PER_MIN: '3', TRUST_PROXY: '127.0.0.1' } });
    const count = createUnreadCount(app.service.core);
    const [near, far] = ['127.0.0.1', '203.0.113.9'];
    for (const path of ['/api/session', '/api/realtime/heartbeat', '/demo'])
      count({ path, peer: near, headers: { 'x-forwarded-for': far }, atMs: app.clock.now() } as unknown as HttpRequest);
    const left = await Promise.all([near, far].map((peer) => app.send({ path: '/api/auth/session', peer })));
    expect(left.map(({ headers }) => headers['x-ratelimit-remaining'])).toEqual(['2', '0']);
  });

  test('is separate for each address, and an IPv6 network of 64 bits is one address', async () => {
    const app = await build({ env: { RATE_IP_PER_MIN: '1' } });
    const from = async (peer: string) => (await app.send({ path: '/api/auth/session', peer })).status;
    expect(await from('192.0.2.1')).toBe(401);
    expect(await from('192.0.2.2')).toBe(401);
    expect(await from('192.0.2.1')).toBe(429);
    expect(await from('2001:db8:0:1::1')).toBe(401);
    expect(await from('2001:db8:0:1:ffff::2')).toBe(429);
    expect(await from('2001:db8:0:2::1')).toBe(401);
  });

  test('for logins also counts the networks around an IPv6 address: its /56 as one address, its /48 as four', async () => {
    const app = await build({ env: { RATE_IP_PER_MIN: '2' } });
    const ask = (peer: string, path = '/api/auth/otp/verify') =>
      app.send({ method: 'POST', path, peer, body: { email: somebody(), code: '000000' } });
    const statuses = async (...peers: string[]) => {
      const found = [];
      for (const peer of peers) found.push((await ask(peer)).status);
      return found;
    };
    expect(await statuses('2001:db8:1:1::1', '2001:db8:1:2::1', '2001:db8:1:3::1')).toEqual([401, 401, 429]);
    // The first of these is in the /56 of before, and its count goes on.
    expect(await statuses(...[1, 2, 3, 4, 5, 6, 7].map((n) => `2001:db8:1:${n}00::1`))).toEqual([
      ...Array.from({ length: 6 }, () => 401),
      429,
    ]);
    expect(errorOf(await ask('2001:db8:1:900::1', '/api/auth/otp/send')).code).toBe('RATE_LIMIT_EXCEEDED');
    expect(await statuses('2001:db8:2:1::1')).toEqual([401]);
    expect((await app.send({ path: '/api/auth/session', peer: '2001:db8:1:900::2' })).status).toBe(401);
  });

  test('cannot be evaded with X-Forwarded-For, unless a trusted proxy writes it', async () => {
    const app = await build({ env: { RATE_IP_PER_MIN: '1', TRUST_PROXY: '10.0.0.0/8' } });
    const from = async (peer: string, forwarded: string) =>
      (await app.send({ path: '/api/auth/session', peer, headers: { 'x-forwarded-for': forwarded } })).status;
    expect(await from('192.0.2.1', '198.51.100.1')).toBe(401);
    expect(await from('192.0.2.1', '198.51.100.2')).toBe(429);
    expect(await from('10.0.0.1', '198.51.100.1')).toBe(401);
    expect(await from('10.0.0.2', '203.0.113.5, 198.51.100.1')).toBe(429);
    expect(await from('10.0.0.1', '198.51.100.2')).toBe(401);
    const fromProxyItself = async () => (await app.send({ path: '/api/auth/session', peer: '10.0.0.3' })).status;
    expect(await fromProxyItself()).toBe(401);
    expect(await fromProxyItself()).toBe(429);
  });

  test('counts only what is under /api', async () => {
    const app = await build({ env: { RATE_IP_PER_MIN: '1' } });
    for (const path of ['/healthz', '/readyz', '/openapi.json', '/nothing', '/metrics'])
      for (let n = 0; n < 3; n += 1) {
        const reply = await app.get(path);
        expect([reply.status === 429, windowOf(reply)]).toEqual([false, [undefined, undefined, undefined]]);
      }
  });
});

describe('The window of pages', () => {
  const pages = [
    '/openapi.json',
    '/asyncapi.json',
    '/docs',
    '/demo',
    '/demo/config.json',
    '/widget.js',
    '/',
    '/nothing',
  ];

  test('counts all requests of an address outside the API together, and shows only when it refuses', async () => {
    const app = await build({
      env: { RATE_PAGE_PER_MIN: '8', RATE_IP_PER_MIN: '1' },
      clock: new ManualClock(NOON + 12_345),
    });
    for (const path of pages) {
      const reply = await app.get(path);
      expect([reply.status === 429, windowOf(reply)]).toEqual([false, [undefined, undefined, undefined]]);
    }
    for (const path of pages) {
      const refused = await app.get(path);
      expect(errorOf(refused)).toEqual({ status: 429, code: 'RATE_LIMIT_EXCEEDED' });
      expect([windowOf(refused), refused.headers['retry-after'], refused.body['retryAfter']]).toEqual([
        ['8', '0', resetAt],
        '48',
        48,
      ]);
    }
    expect((await app.send({ path: '/docs', peer: '192.0.2.2' })).status).not.toBe(429);
    // The two windows are independent.
    expect((await app.get('/api/auth/session')).status).toBe(401);
    app.clock.set(NOON + 60 * SECOND);
    expect((await app.get('/openapi.json')).status).toBe(200);
  });

  test('is 600 requests by default, and does not limit the probes of a load balancer', async () => {
    const app = await build();
    const statuses = new Set<number>();
    for (let n = 0; n < 600; n += 1) statuses.add((await app.get('/nothing')).status);
    expect([...statuses, (await app.get('/nothing')).status]).toEqual([404, 429]);
    for (const path of ['/healthz', '/readyz'])
      for (const method of ['GET', 'HEAD']) expect((await app.send({ method, path })).status).toBe(200);
  });

  test('does not wait for the count: a shared store that is away or silent delays no page', async () => {
    const app = await build();
    const silent = await build({
      live: { ...app.live, windows: { ...app.live.windows, take: () => new Promise<never>(() => {}) } },
    });
    expect((await silent.get('/openapi.json')).status).toBe(200);
  });
});

describe('An invalid service token', () => {
  const wrong = { authorization: 'Bearer a-guess-of-somebody-who-would-like-to-know' };
  const right = { authorization: `Bearer ${SERVICE_TOKEN}` };

  test('cannot be guessed at /metrics: after ten in a minute an address no longer learns whether a token is right', async () => {
    const app = await build({ clock: new ManualClock(NOON + 12_345) });
    for (let n = 0; n < 10; n += 1) expect((await app.get('/metrics', wrong)).status).toBe(401);
    for (const headers of [wrong, right]) {
      const refused = await app.get('/metrics', headers);
      expect(errorOf(refused)).toEqual({ status: 429, code: 'RATE_LIMIT_EXCEEDED' });
      expect([windowOf(refused), refused.headers['retry-after']]).toEqual([['10', '0', resetAt], '48']);
    }
    expect((await app.send({ path: '/metrics', peer: '192.0.2.2', headers: right })).status).toBe(200);
    app.clock.set(NOON + 60 * SECOND);
    expect((await app.get('/metrics', right)).status).toBe(200);
  });

  test('does not affect the right one, which no window counts, until then', async () => {
    const app = await build({ env: { RATE_PAGE_PER_MIN: '9' } });
    for (let n = 0; n < 9; n += 1) await app.get('/metrics', wrong);
    expect((await app.get('/metrics')).status).toBe(429);
    for (let n = 0; n < 20; n += 1) expect((await app.get('/metrics', right)).status).toBe(200);
  });
});

describe('The window of a console user', () => {
  test('counts a login wherever it comes from, besides the address, and the tighter of the two is reported', async () => {
    const app = await build({ env: { RATE_IP_PER_MIN: '4', RATE_USER_PER_MIN: '3' } });
    const cookie = await app.login(somebody());
    const from = (peer: string) => app.send({ path: '/api/auth/session', peer, headers: { cookie } });
    expect(windowOf(await from('192.0.2.1'))).toEqual(['3', '2', resetAt]);
    expect(windowOf(await from('192.0.2.2'))).toEqual(['3', '1', resetAt]);
    expect(windowOf(await from('192.0.2.1'))).toEqual(['3', '0', resetAt]);
    const refused = await from('192.0.2.3');
    expect(errorOf(refused)).toEqual({ status: 429, code: 'RATE_LIMIT_EXCEEDED' });
    expect([windowOf(refused), refused.headers['retry-after'], refused.body['retryAfter']]).toEqual([
      ['3', '0', resetAt],
      '60',
      60,
    ]);
    expect((await app.send({ path: '/api/auth/session', peer: '192.0.2.3' })).status).toBe(401);
  });

  test('is not reported if the window of the address is tighter', async () => {
    const app = await build({ env: { RATE_IP_PER_MIN: '2', RATE_USER_PER_MIN: '9' } });
    const cookie = await app.login(somebody());
    const replies = [];
    for (let n = 0; n < 3; n += 1) replies.push(await app.get('/api/auth/session', { cookie }));
    expect(replies.map(windowOf)).toEqual([
      ['2', '1', resetAt],
      ['2', '0', resetAt],
      ['2', '0', resetAt],
    ]);
    expect(replies[2]?.status).toBe(429);
  });

  test('is shared by all logins of one person', async () => {
    const app = await build({ env: { RATE_USER_PER_MIN: '1' } });
    const email = somebody();
    const [first, second] = [await app.login(email), await app.login(email)];
    expect((await app.get('/api/auth/session', { cookie: first })).status).toBe(200);
    expect((await app.get('/api/auth/session', { cookie: second })).status).toBe(429);
  });

  test('is not used up by an invalid cookie', async () => {
    const app = await build({ env: { RATE_IP_PER_MIN: '9', RATE_USER_PER_MIN: '1' } });
    for (const cookie of ['tenant_session=x', 'tenant_session=', `tenant_session=${'a.'.repeat(2000)}`, 'other=1'])
      expect(windowOf(await app.get('/api/auth/session', { cookie }))[0]).toBe('9');
  });

  test('changes nothing on a refusal', async () => {
    const app = await build({ env: { RATE_USER_PER_MIN: '1' } });
    const cookie = await app.login(somebody());
    await app.get('/api/auth/session', { cookie });
    expect((await app.post('/api/auth/logout', {}, { cookie })).status).toBe(429);
    app.clock.advance(60 * SECOND);
    expect((await app.get('/api/auth/session', { cookie })).status).toBe(200);
  });
});
