import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../support/client.ts';
import { RawClient, requestText } from '../support/raw-http.ts';
import { site, siteKey, World } from '../support/world.ts';

const ada = 'ada@acme.example';
const grace = 'grace@acme.example';
const visitorEmail = 'visitor@mail.example';
const cleared = 'tenant_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax';

let world: World;

beforeAll(async () => {
  world = await World.start();
});

afterAll(() => world.close());

describe('A widget on the website of a tenant', () => {
  let visitor: Client;
  let session: { sm_session_id: string | undefined; email: string };

  test('opens a session with its key, from its origin, for an agent of the tenant', async () => {
    visitor = world.visitor();
    world.confidential.add(visitorEmail);
    const reply = await visitor.post('/api/session', { widgetKey: siteKey, agentId: 'support', email: visitorEmail });
    expect(reply.status, reply.text).toBe(200);
    expect(reply.body).toMatchObject({
      id: 'sess_upstream1',
      sm_session_id: expect.stringMatching(/^s:[0-9a-f]{32}:[\w-]{22}$/),
      client_secret: { value: world.provider.secrets[0], expires_at: expect.any(Number) },
      heartbeat: { intervalSec: 45, url: `${world.server.origin}/api/realtime/heartbeat` },
      limits: { maxMinutes: 15, maxIdleSec: 300 },
    });
    expect(reply.headers.get('access-control-allow-origin')).toBe(site);
    session = { sm_session_id: reply.body.sm_session_id, email: visitorEmail };
  });

  test('gets the agent that the tenant configured, without the addresses of its tools', () => {
    expect(world.provider.requests.at(-1)?.body).toMatchObject({
      session: {
        model: 'gpt-realtime-2.1',
        instructions: 'Help the caller.',
        audio: { output: { voice: 'marin' } },
        tools: [
          { type: 'function', name: 'find_order', description: 'Finds an order', parameters: { type: 'object' } },
        ],
      },
    });
    expect(JSON.stringify(world.provider.requests.at(-1)?.body)).not.toContain('/hook');
  });

  test('keeps its session alive with heartbeats', async () => {
    const reply = await visitor.post('/api/realtime/heartbeat', session);
    expect(reply.status, reply.text).toBe(200);
    expect(reply.body).toEqual({
      ok: true,
      session: {
        active: true,
        startedAt: expect.stringMatching(/Z$/),
        lastSeenAt: expect.stringMatching(/Z$/),
        durationSec: expect.any(Number),
        idleSec: 0,
      },
    });
  });

  test('reports its usage, with its session as proof', async () => {
    const reply = await visitor.post('/api/auth/usage', { ...session, tokens: 1200, dollars: 0.1 });
    expect(reply.status, reply.text).toBe(200);
    const totals = { tokens: 1200, dollars: 0.1, dailyTokenLimit: 300_000, dailyDollarLimit: 20 };
    expect(reply.body.usage).toMatchObject(totals);
  });

  test('ends its session, and every later heartbeat gets the same terminal answer', async () => {
    expect(await visitor.post('/api/realtime/end', session)).toMatchObject({
      status: 200,
      body: { session: { active: false } },
    });
    for (const _ of [1, 2])
      expect(await visitor.post('/api/realtime/heartbeat', session)).toMatchObject({
        status: 403,
        body: { code: 'SESSION_DURATION_EXCEEDED', reason: 'closed_by_client', maxMinutes: 15 },
      });
  });
});

describe('An administrator', () => {
  let browser: Client;
  let session: { sm_session_id: string | undefined; email: string };

  test('logs in with the code from the mail, and gets a cookie that scripts cannot read', async () => {
    browser = world.person();
    const code = await world.mailedCode(browser, ada);
    const reply = await browser.post('/api/auth/otp/verify', { email: ada, code });
    expect(reply.status, reply.text).toBe(200);
    expect(reply.body.session).toMatchObject({ email: ada, sessionId: expect.stringMatching(/^auth_/) });
    const attributes = 'Path=/; Max-Age=86400; HttpOnly; SameSite=Lax';
    const [login, device, ...others] = reply.headers.getSetCookie();
    expect(login).toBe(`tenant_session=${browser.cookie}; ${attributes}`);
    expect(device).toMatch(
      /^tenant_device_\w+=[\w.-]+; Path=\/api\/auth\/otp; Max-Age=15552000; HttpOnly; SameSite=Lax$/,
    );
    expect(others).toEqual([]);
    expect(await browser.get('/api/auth/session')).toMatchObject({ status: 200, body: { ok: true, email: ada } });
  });

  test('opens one session, and no second one at the same time', async () => {
    const create = { tenantId: 'acme', agentId: 'support' };
    const reply = await browser.post('/api/session', create);
    expect(reply.status, reply.text).toBe(200);
    session = { sm_session_id: reply.body.sm_session_id, email: ada };
    expect(await browser.post('/api/session', create)).toMatchObject({
      status: 429,
      body: { code: 'MAX_CONCURRENT_SESSIONS' },
    });
    expect((await browser.post('/api/realtime/heartbeat', session)).status).toBe(200);
  });

  test('is cut off by a report over the ceiling: the session ends, the cookie is cleared and the login destroyed', async () => {
    const stolen = browser.cookie;
    const below = await browser.post('/api/auth/usage', { email: ada, tokens: 50_000, dollars: 0.25 });
    expect(below).toMatchObject({ status: 200, body: { usage: { tokens: 50_000, dailyTokenLimit: 50_000 } } });

    const over = await browser.post('/api/auth/usage', { email: ada, tokens: 1, dollars: 0 });
    expect(over).toMatchObject({ status: 429, body: { code: 'DAILY_QUOTA_EXCEEDED' } });
    expect(over.headers.get('set-cookie')).toBe(cleared);

    browser.cookie = stolen;
    const check = await browser.get('/api/auth/session');
    expect(check.status).toBe(401);
    expect(check.body).toEqual({ ok: false, error: expect.any(String) });
    const beat = await browser.post('/api/realtime/heartbeat', session);
    expect(beat).toMatchObject({ status: 403, body: { reason: 'quota_exceeded' } });
  });

  test('can log in again that day, but not open a session: that ends the login too', async () => {
    const back = await world.login(ada);
    const refused = await back.post('/api/session', { tenantId: 'acme', agentId: 'support' });
    expect(refused).toMatchObject({ status: 429, body: { code: 'DAILY_QUOTA_EXCEEDED' } });
    expect(refused.headers.get('set-cookie')).toBe(cleared);
  });

  test('logs out, and the old cookie no longer works', async () => {
    const other = await world.login(grace);
    const stolen = other.cookie;
    const out = await other.post('/api/auth/logout');
    expect(out).toMatchObject({ status: 200, body: { ok: true } });
    expect(out.headers.get('set-cookie')).toBe(cleared);
    other.cookie = stolen;
    expect((await other.get('/api/auth/session')).status).toBe(401);
  });
});

test('A request whose body has two lengths is refused like any other, and the connection ends', async () => {
  const headers = ['Content-Type: application/json', 'Content-Length: 2', 'Content-Length: 3'];
  const client = await RawClient.sending(world.server.port, requestText('POST', '/api/session', headers, '{} '));
  const reply = await client.reply();
  await client.closed;
  expect(reply.status).toBe(400);
  expect(reply.headers).toMatchObject({ 'cache-control': 'no-store', 'x-request-id': expect.any(String) });
  expect(JSON.parse(reply.body)).toMatchObject({ code: 'INVALID_REQUEST', details: [{ path: 'headers' }] });
  expect(world.printed()).toContain(reply.headers['x-request-id']);
});

describe('The whole run', () => {
  test('shows its counts to operators and trusted back ends, and to nobody else', async () => {
    const overview = await world.backend().get('/api/operator/overview');
    expect(overview).toMatchObject({ status: 200, body: { byState: { engaged: 0, ended: 2 } } });
    const list = await world.backend().get('/api/operator/sessions?state=ended');
    expect(list.body.sessions?.map(({ endReason }) => endReason)).toEqual(['quota_exceeded', 'closed_by_client']);
    expect((await world.person().get('/api/operator/overview')).status).toBe(401);
    expect((await world.person().get('/metrics')).status).toBe(401);
    expect((await world.backend().get('/metrics')).text).toContain(
      'switchboard_sessions_ended_total{reason="quota_exceeded"} 1',
    );
  });

  test('left no code, token, cookie, secret, session id or address in the log', () => {
    expect(world.confidential.size).toBeGreaterThan(12);
    expect(world.printed()).toContain('"event":"login.opened"');
    expect(world.leaks()).toEqual([]);
  });

  test('was logged in lines of JSON, each request with its id', async () => {
    const id = (await world.person().get('/api/nowhere')).headers.get('x-request-id') ?? '';
    const lines = world.server.output.stdout.split('\n').filter((line) => line.startsWith('{'));
    const told = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(told.find(({ requestId }) => requestId === id)).toMatchObject({ level: 'info', refusal: 'NOT_FOUND' });
    expect(world.server.output.stderr).toBe('');
  });
});
