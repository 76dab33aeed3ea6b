import { beforeEach, describe, expect, test } from 'vitest';
import type { WidgetKey } from '../../src/stores/tenants/contract.ts';
import { CONSOLE, SERVICE_TOKEN, somebody, type Reply, type TestApp } from '../support/app.ts';
import { SECOND } from '../support/clock.ts';
import { FakeProvider } from '../support/fake-provider.ts';
import { useApps } from '../support/use-apps.ts';
import { errorOf } from './app.ts';
import { closedCall, exchange, fakeCalls, openBrokered, openedBy, type Opened } from './calls.ts';

const { build } = useApps();

let app: TestApp;
let key: WidgetKey;
let opened: Opened;
beforeEach(async () => {
  app = await build({ provider: new FakeProvider({ call: 'brokered' }) });
  fakeCalls(app);
  key = await app.key();
  opened = await openBrokered(app, key);
});

const ask = (body: object, headers: Readonly<Record<string, string>> = {}): Promise<Reply> =>
  app.post('/api/realtime/ticket', body, headers);

const secretOf = ({ body }: Reply) => body['client_secret'] as { readonly value: string; readonly expires_at: number };

describe('Another ticket', () => {
  test('is given for the session’s id, is valid as long as the first, and opens a call', async () => {
    app.clock.advance(10 * SECOND);
    const reply = await ask({ sm_session_id: opened.id }, { origin: key.origin });
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      client_secret: {
        value: expect.stringMatching(/^ek_sb_[A-Za-z0-9_-]{43}$/),
        expires_at: Math.floor(app.clock.now() / 1000) + 60,
      },
    });
    expect(reply.headers).toMatchObject({ 'cache-control': 'no-store', 'access-control-allow-origin': key.origin });
    expect((await exchange(app, { ...opened, ticket: secretOf(reply).value })).status).toBe(201);
    expect(app.logged()).not.toContain(secretOf(reply).value);
  });

  test('leaves earlier tickets valid, each for one call', async () => {
    const second = secretOf(await ask({ sm_session_id: opened.id })).value;
    for (const ticket of [opened.ticket, second]) expect((await exchange(app, { ...opened, ticket })).status).toBe(201);
    for (const ticket of [opened.ticket, second]) expect((await exchange(app, { ...opened, ticket })).status).toBe(401);
  });

  test('is not given once the session has had all its calls, so that its page keeps its present one', async () => {
    const limited = await build({ provider: new FakeProvider({ call: 'brokered' }), env: { CALLS_PER_SESSION: '1' } });
    fakeCalls(limited);
    const only = await openBrokered(limited, await limited.key());
    const again = (): Promise<Reply> => limited.post('/api/realtime/ticket', { sm_session_id: only.id });
    expect((await again()).status).toBe(200);
    await limited.service.stores.calls.insert(closedCall(only.id), 1);
    const refused = await again();
    expect([refused.status, refused.body['code']]).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
  });

  test('requires the e-mail address of the session, or a service token', async () => {
    const email = somebody();
    const { id: sm_session_id } = await openBrokered(app, key, { email });
    const bearer = { authorization: `Bearer ${SERVICE_TOKEN}` };
    const notFound = { status: 404, code: 'SESSION_NOT_FOUND' };
    expect(errorOf(await ask({ sm_session_id }))).toEqual(notFound);
    expect(errorOf(await ask({ sm_session_id, email: somebody() }))).toEqual(notFound);
    expect(errorOf(await ask({ sm_session_id, email: somebody() }, bearer))).toEqual(notFound);
    expect((await ask({ sm_session_id, email })).status).toBe(200);
    expect((await ask({ sm_session_id }, bearer)).status).toBe(200);
  });

  test.each(['s:nobody', `s:${'0'.repeat(32)}:${'A'.repeat(22)}`])('is not given for %s', async (sm_session_id) => {
    expect(errorOf(await ask({ sm_session_id }))).toEqual({ status: 404, code: 'SESSION_NOT_FOUND' });
  });

  test('is not given for a session that has ended or is idle', async () => {
    const over = { status: 403, code: 'SESSION_DURATION_EXCEEDED' };
    const { id: sm_session_id } = await openBrokered(app, key);
    await app.post('/api/realtime/end', { sm_session_id });
    expect(errorOf(await ask({ sm_session_id }))).toEqual(over);
    app.clock.advance(301 * SECOND);
    const idle = await ask({ sm_session_id: opened.id });
    expect(errorOf(idle)).toEqual(over);
    expect(idle.body['reason']).toBe('idle_exceeded');
  });

  test('of an ended session opens neither its call nor that of another session', async () => {
    const { value } = secretOf(await ask({ sm_session_id: opened.id }));
    await app.post('/api/realtime/end', { sm_session_id: opened.id });
    const other = await openBrokered(app, key);
    expect((await exchange(app, { ...opened, ticket: value })).status).toBe(403);
    expect((await exchange(app, other)).status).toBe(201);
  });

  test('is not given for a session whose page opens its call itself', async () => {
    const provider = new FakeProvider({ call: 'brokered', isSimulated: false });
    app = await build({ provider });
    for (const body of [{}, { metadata: { page: 'home' } }]) {
      const sm_session_id = await app.open(await app.key(), body);
      const reply = await ask({ sm_session_id });
      expect(errorOf(reply)).toEqual({ status: 400, code: 'INVALID_REQUEST' });
      expect(reply.body['details']).toMatchObject([{ path: 'sm_session_id' }]);
    }
  });

  test('destroys the login that opened the session if a violation ended the session', async () => {
    const cookie = await app.login(somebody());
    const created = await app.post('/api/session', { tenantId: 'acme' }, { cookie, origin: CONSOLE });
    const { id: sm_session_id } = openedBy(created, CONSOLE);
    await app.sessions.end(sm_session_id, 'quota_exceeded', app.clock.now());
    const reply = await ask({ sm_session_id }, { cookie, origin: CONSOLE, authorization: `Bearer ${SERVICE_TOKEN}` });
    expect(errorOf(reply)).toEqual({ status: 403, code: 'SESSION_DURATION_EXCEEDED' });
    expect(reply.headers['set-cookie']).toContain('Max-Age=0');
  });

  test('destroys that login as well if the clock has ended the session and nobody has noticed', async () => {
    const cookie = await app.login(somebody());
    const created = await app.post('/api/session', { tenantId: 'acme' }, { cookie, origin: CONSOLE });
    const { id: sm_session_id } = openedBy(created, CONSOLE);
    app.clock.advance(301 * SECOND);
    const reply = await ask({ sm_session_id }, { cookie, origin: CONSOLE, authorization: `Bearer ${SERVICE_TOKEN}` });
    expect(reply).toMatchObject({ status: 403, body: { reason: 'idle_exceeded' } });
    expect(reply.headers['set-cookie']).toContain('Max-Age=0');
  });

  test.each([{}, { sm_session_id: 5 }, { sm_session_id: 'x'.repeat(129) }])('is not given for %j', async (body) => {
    expect(errorOf(await ask(body))).toEqual({ status: 400, code: 'INVALID_REQUEST' });
  });
});
