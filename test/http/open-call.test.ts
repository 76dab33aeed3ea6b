import { beforeEach, describe, expect, test, vi, type Mock } from 'vitest';
import type { Calls } from '../../src/calls/contract.ts';
import { MAX_SDP_BYTES } from '../../src/calls/sdp.ts';
import { Unavailable } from '../../src/kernel/errors.ts';
import type { Code } from '../../src/protocol/errors/error-codes.ts';
import { endedRefusal, Refusal } from '../../src/protocol/refusal.ts';
import type { WidgetKey } from '../../src/stores/tenants/contract.ts';
import { CONSOLE, SERVICE_TOKEN, somebody, type TestApp } from '../support/app.ts';
import { MINUTE, SECOND } from '../support/clock.ts';
import { FakeProvider } from '../support/fake-provider.ts';
import { useApps } from '../support/use-apps.ts';
import { chromium } from '../features/calls/sdp/corpus.ts';
import { errorOf } from './app.ts';
import {
  ANSWER,
  CALL,
  exchange,
  fakeCalls,
  OFFER,
  openBrokered,
  openedBy,
  PROVIDER_CALL,
  type Opened,
} from './calls.ts';
import { changedAt } from '../support/key-change.ts';

const { build, database } = useApps();
const EVIL = 'https://evil.example';

let app: TestApp;
let key: WidgetKey;
let open: Mock<Calls['open']>;
let opened: Opened;
beforeEach(async () => {
  app = await build({ provider: new FakeProvider({ call: 'brokered' }) });
  open = fakeCalls(app);
  key = await app.key();
  opened = await openBrokered(app, key);
});

const unknown = { status: 401, code: 'AUTH_REQUIRED' };

describe('The offer of a brokered session', () => {
  test('gets the provider’s answer, and our own name for the call', async () => {
    const reply = await exchange(app, opened);
    expect(reply).toMatchObject({ status: 201, text: ANSWER });
    expect(reply.headers).toMatchObject({
      'content-type': 'application/sdp',
      location: `/api/realtime/calls/${CALL}`,
      'cache-control': 'no-store',
    });
    expect(JSON.stringify(reply)).not.toContain(PROVIDER_CALL);
  });

  test('opens a call of its session, with what the session was created with', async () => {
    const other = await openBrokered(app, key, { agentId: 'support', voice: 'cedar', metadata: { page: 'home' } });
    await exchange(app, other);
    expect(open).toHaveBeenCalledExactlyOnceWith({
      session: await app.sessions.find(other.id),
      setup: {
        sessionId: other.id,
        callMode: 'brokered',
        model: 'gpt-realtime-2.1',
        voice: 'cedar',
        instructions: 'Help the caller.',
        tools: [expect.objectContaining({ name: 'find_order' })],
        behaviour: null,
        dataChannel: 'open',
        forbidsOverrides: false,
        price: null,
        metadata: { page: 'home' },
        agentVersion: expect.stringMatching(/^[0-9a-f]{12}$/),
        trace: null,
        sealedContext: null,
        createdAtMs: app.clock.now(),
      },
      offerSdp: OFFER,
      requestId: expect.any(String),
      signal: expect.any(AbortSignal),
    });
  });

  test('may have the headers of the provider’s SDK, and a page may read the reply', async () => {
    const preflight = await app.send({
      method: 'OPTIONS',
      path: '/api/realtime/calls',
      headers: {
        origin: key.origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type,x-openai-agents-sdk',
      },
    });
    expect(preflight.headers).toMatchObject({
      'access-control-allow-origin': key.origin,
      'access-control-allow-methods': 'POST, OPTIONS',
      'access-control-allow-headers': 'authorization,content-type,x-openai-agents-sdk',
    });
    const { headers } = await exchange(app, opened, { headers: { 'x-openai-agents-sdk': 'openai-agents-sdk.0.1.0' } });
    expect(headers['access-control-allow-origin']).toBe(key.origin);
    expect(headers['access-control-expose-headers']?.split(', ')).toContain('Location');
  });

  test('may come from the console without an Origin, or with the console’s', async () => {
    const cookie = await app.login(somebody());
    for (const headers of [{}, { origin: CONSOLE }] as readonly Record<string, string>[]) {
      const created = await app.post('/api/session', { tenantId: 'acme' }, { cookie, origin: CONSOLE });
      const { id, ticket } = openedBy(created, '');
      const request = {
        method: 'POST',
        path: '/api/realtime/calls',
        body: OFFER,
        headers: { authorization: `Bearer ${ticket}`, 'content-type': 'application/sdp' },
      };
      expect(errorOf(await app.send({ ...request, headers: { ...request.headers, origin: EVIL } }))).toEqual({
        status: 403,
        code: 'ORIGIN_MISMATCH',
      });
      expect((await app.send({ ...request, headers: { ...request.headers, ...headers } })).status).toBe(201);
      await app.sessions.end(id, 'closed_by_client', app.clock.now());
    }
  });

  test('is logged with the refs of session and call, without the ticket, the provider’s call id or SDP', async () => {
    await exchange(app, opened);
    await exchange(app, opened);
    await exchange(app, { ...opened, ticket: `${opened.ticket}x` }, { offer: 'v=0\r\nprivate' });
    const log = app.logged();
    expect(log).toContain('"event":"call.answered"');
    expect(log).toContain(CALL);
    for (const secret of [opened.ticket, opened.ticket.slice(6), opened.id, PROVIDER_CALL, 'ice-pwd', 'private'])
      expect(log).not.toContain(secret);
  });
});

describe('A ticket', () => {
  test('opens one call: a second try is answered as if the ticket never existed', async () => {
    const never = await exchange(app, { ...opened, ticket: `ek_sb_${'A'.repeat(43)}` });
    expect((await exchange(app, opened)).status).toBe(201);
    const again = await exchange(app, opened);
    expect(errorOf(again)).toEqual(unknown);
    expect(again.text).toBe(never.text);
    expect(open).toHaveBeenCalledTimes(1);
  });

  test('opens one call when ten are requested at once', async () => {
    const replies = await Promise.all(Array.from({ length: 10 }, () => exchange(app, opened)));
    const statuses = replies.map(({ status }) => status).toSorted((one, other) => one - other);
    expect(statuses).toEqual([201, ...Array.from({ length: 9 }, () => 401)]);
    expect(open).toHaveBeenCalledTimes(1);
  });

  test('is worth nothing after its time', async () => {
    app.clock.advance(60 * SECOND - 1);
    const late = await openBrokered(app, key);
    expect((await exchange(app, opened)).status).toBe(201);
    app.clock.advance(60 * SECOND);
    expect(errorOf(await exchange(app, late))).toEqual(unknown);
  });

  test.each([
    ['nothing', {}],
    ['another scheme', { authorization: 'Basic dTpw' }],
    ['a provider’s secret', { authorization: 'Bearer ek_68af296e8e408191a1120ab6383263c2' }],
    ['a service token', { authorization: `Bearer ${SERVICE_TOKEN}` }],
    ['a bare prefix', { authorization: 'Bearer ek_sb_' }],
    ['no value', { authorization: 'Bearer ' }],
  ])('cannot be replaced by %s', async (_what, headers) => {
    const request = { method: 'POST', path: '/api/realtime/calls', body: OFFER };
    const all = { origin: key.origin, 'content-type': 'application/sdp', ...headers };
    expect(errorOf(await app.send({ ...request, headers: all }))).toEqual(unknown);
    expect(open).not.toHaveBeenCalled();
  });

  test('of a session that was never opened opens no call', async () => {
    const { value } = await app.service.tickets.issue(`s:${'0'.repeat(32)}:${'A'.repeat(22)}`, app.clock.now());
    expect(errorOf(await exchange(app, { ...opened, ticket: value }))).toEqual(unknown);
  });

  test('is stored only as a hash', async () => {
    const rows = await database().run((sql) => sql`select * from call_ticket`);
    expect(JSON.stringify(rows)).toContain(opened.id);
    expect(JSON.stringify(rows)).not.toContain(opened.ticket.slice(6));
  });
});

describe('What a caller can correct does not cost the ticket', () => {
  const mistakes: readonly (readonly [string, Parameters<typeof exchange>[2], number, Code])[] = [
    ['an offer that is none', { offer: 'offer' }, 400, 'INVALID_REQUEST'],
    ['an offer with a video', { offer: `${OFFER}m=video 0 UDP/TLS/RTP/SAVPF 96\r\n` }, 400, 'INVALID_REQUEST'],
    ['an empty offer', { offer: '' }, 400, 'INVALID_REQUEST'],
    ['bytes that are no UTF-8', { offer: Buffer.from([0x76, 0x3d, 0xff]) }, 400, 'INVALID_REQUEST'],
    ['JSON', { headers: { 'content-type': 'application/json' } }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    [
      'another charset',
      { headers: { 'content-type': 'application/sdp; charset=latin1' } },
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ],
    ['a compressed body', { headers: { 'content-encoding': 'gzip' } }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['more than 32 KiB', { offer: 'v'.repeat(MAX_SDP_BYTES + 1) }, 413, 'PAYLOAD_TOO_LARGE'],
    ['more than 64 KiB', { offer: 'v'.repeat(70_000) }, 413, 'PAYLOAD_TOO_LARGE'],
    ['another origin', { headers: { origin: EVIL } }, 403, 'ORIGIN_MISMATCH'],
    ['the console’s origin', { headers: { origin: CONSOLE } }, 403, 'ORIGIN_MISMATCH'],
  ];

  test.each(mistakes)('%s', async (_what, changes, status, code) => {
    expect(errorOf(await exchange(app, opened, changes))).toEqual({ status, code });
    expect(open).not.toHaveBeenCalled();
    expect((await exchange(app, opened)).status).toBe(201);
  });

  test('a missing Origin, unless REQUIRE_ORIGIN_FOR_WIDGETS is false', async () => {
    const headers = { authorization: `Bearer ${opened.ticket}`, 'content-type': 'application/sdp' };
    const request = { method: 'POST', path: '/api/realtime/calls', body: OFFER, headers };
    expect(errorOf(await app.send(request))).toEqual({ status: 403, code: 'ORIGIN_MISMATCH' });
    const lax = await build({
      provider: app.provider,
      live: app.live,
      clock: app.clock,
      env: { REQUIRE_ORIGIN_FOR_WIDGETS: 'false' },
    });
    fakeCalls(lax);
    expect((await lax.send(request)).status).toBe(201);
  });

  test('a data channel if the agent has none', async () => {
    await app.service.stores.tenants.merge([
      { id: 'quiet', name: 'Quiet', admins: null, keys: [], agents: [{ id: 'quiet', dataChannel: 'none' }] },
    ]);
    const quiet = await openBrokered(app, await app.key({ tenantId: 'quiet', agents: ['quiet'] }));
    const refused = await exchange(app, quiet, { offer: chromium });
    expect(errorOf(refused)).toEqual({ status: 400, code: 'INVALID_REQUEST' });
    expect((await exchange(app, quiet)).status).toBe(201);
    expect((await exchange(app, opened, { offer: chromium })).status).toBe(201);
  });
});

describe('The offer of a session that is over', () => {
  const over = (reason: string) => ({
    status: 403,
    body: { code: 'SESSION_DURATION_EXCEEDED', reason, maxMinutes: 15 },
  });

  test('is refused as its heartbeat is', async () => {
    await app.post('/api/realtime/end', { sm_session_id: opened.id });
    expect(await exchange(app, opened)).toMatchObject(over('closed_by_client'));
    expect(open).not.toHaveBeenCalled();
  });

  test.each([
    ['15 minutes and a moment', 15 * MINUTE + 1, 'duration_exceeded', 5],
    ['the longest silence', 301 * SECOND, 'idle_exceeded', 0],
  ])('by the clock is refused even before the end has been noticed: after %s', async (_what, ms, reason, beats) => {
    const { value } = await app.service.tickets.issue(opened.id, app.clock.now() + ms);
    for (let beat = 0; beat < beats; beat += 1) {
      await app.post('/api/realtime/heartbeat', { sm_session_id: opened.id });
      app.clock.advance(170 * SECOND);
    }
    const { startedAtMs } = (await app.sessions.find(opened.id)) ?? { startedAtMs: 0 };
    app.clock.advance(startedAtMs + ms - app.clock.now());
    expect(await exchange(app, { ...opened, ticket: value })).toMatchObject(over(reason));
  });

  test('because its key was just revoked is refused even before its end is saved', async () => {
    const ending = vi.spyOn(app.sessions, 'endKey').mockResolvedValue(undefined);
    await app.service.stores.tenants.revoke('acme', key.id, changedAt(app.clock.now()));
    await app.service.directory.reload();
    expect(await exchange(app, opened)).toMatchObject(over('key_revoked'));
    ending.mockRestore();
  });

  test('because the day is used up is refused, unlike that of a caller below the ceiling', async () => {
    const narrow = await app.key({ limits: { dailyTokens: 10 } });
    const spent = await openBrokered(app, narrow, { email: 'spent@example.com' });
    const other = await openBrokered(app, narrow, { email: 'other@example.com' });
    const report = { sm_session_id: spent.id, email: 'spent@example.com', tokens: 10, dollars: 0 };
    await app.post('/api/auth/usage', report, { authorization: `Bearer ${SERVICE_TOKEN}` });
    expect(errorOf(await exchange(app, spent))).toEqual({ status: 429, code: 'DAILY_QUOTA_EXCEEDED' });
    expect((await exchange(app, other)).status).toBe(201);
  });
});

describe('The login of a console user', () => {
  let cookie: string;
  let email: string;
  let mine: Opened;

  beforeEach(async () => {
    email = somebody();
    cookie = await app.login(email);
    mine = await create();
  });

  const create = async (): Promise<Opened> =>
    openedBy(await app.post('/api/session', { tenantId: 'acme' }, { cookie, origin: CONSOLE }), CONSOLE);
  const isLoggedIn = async (): Promise<unknown> => (await app.get('/api/auth/session', { cookie })).body['ok'];

  async function refused(session: Opened): Promise<unknown> {
    const reply = await exchange(app, session, { headers: { cookie } });
    return { code: reply.body['code'], isCleared: reply.headers['set-cookie']?.includes('Max-Age=0') ?? false };
  }

  test('is destroyed by an offer once the day is used up', async () => {
    const report = async (tokens: number): Promise<{ readonly dailyTokenLimit: number }> => {
      const body = { email, tokens, dollars: 0 };
      const reply = await app.post('/api/auth/usage', body, { authorization: `Bearer ${SERVICE_TOKEN}` });
      return reply.body['usage'] as { readonly dailyTokenLimit: number };
    };
    // A total may reach its ceiling; from then on nothing new starts.
    await report((await report(0)).dailyTokenLimit);
    expect(await refused(mine)).toEqual({ code: 'DAILY_QUOTA_EXCEEDED', isCleared: true });
    expect(await isLoggedIn()).toBe(false);
  });

  test('is destroyed by an offer for a session that a violation ended, whoever noticed that', async () => {
    await app.sessions.end(mine.id, 'quota_exceeded', app.clock.now());
    expect(await refused(mine)).toEqual({ code: 'SESSION_DURATION_EXCEEDED', isCleared: true });
    expect(await isLoggedIn()).toBe(false);
  });

  test('is destroyed if the violation is found while the call is being opened', async () => {
    open.mockResolvedValueOnce(endedRefusal('duration_exceeded', 15));
    expect(await refused(mine)).toEqual({ code: 'SESSION_DURATION_EXCEEDED', isCleared: true });
    expect(await isLoggedIn()).toBe(false);
  });

  test('stays valid if its session ended otherwise, or the offer is wrong', async () => {
    const reply = await exchange(app, mine, { headers: { cookie }, offer: 'none' });
    expect(reply.headers['set-cookie'] ?? '').not.toContain('Max-Age=0');
    await app.sessions.end(mine.id, 'closed_by_client', app.clock.now());
    expect(await refused(mine)).toEqual({ code: 'SESSION_DURATION_EXCEEDED', isCleared: false });
    expect(await isLoggedIn()).toBe(true);
  });

  test('stays valid if an older login opened the session', async () => {
    await app.sessions.end(mine.id, 'quota_exceeded', app.clock.now());
    cookie = await app.login(email);
    expect(await refused(mine)).toEqual({ code: 'SESSION_DURATION_EXCEEDED', isCleared: false });
    expect(await isLoggedIn()).toBe(true);
  });
});

describe('A call that is not opened', () => {
  test.each([
    ['CALL_IN_PROGRESS', 409],
    ['RATE_LIMIT_EXCEEDED', 429],
    ['UPSTREAM_ERROR', 502],
    ['UPSTREAM_TIMEOUT', 504],
    ['SESSION_DURATION_EXCEEDED', 403],
  ] as const)('is reported as %s, and costs the ticket', async (code, status) => {
    open.mockResolvedValueOnce(new Refusal(code, 'no'));
    expect(errorOf(await exchange(app, opened))).toEqual({ status, code });
    expect(errorOf(await exchange(app, opened))).toEqual(unknown);
    expect(open).toHaveBeenCalledTimes(1);
  });

  test('because the database is away is reported as such', async () => {
    open.mockRejectedValueOnce(new Unavailable('database', new Error('gone')));
    expect(errorOf(await exchange(app, opened))).toEqual({ status: 503, code: 'SERVICE_UNAVAILABLE' });
  });

  test('while the database is away does not cost the ticket', async () => {
    database().isAway = true;
    expect(errorOf(await exchange(app, opened))).toEqual({ status: 503, code: 'SERVICE_UNAVAILABLE' });
    database().isAway = false;
    expect((await exchange(app, opened)).status).toBe(201);
  });

  test('is aborted when its caller hangs up', async () => {
    const caller = new AbortController();
    open.mockImplementationOnce(async ({ signal }) => {
      caller.abort();
      return new Refusal(signal.aborted ? 'UPSTREAM_TIMEOUT' : 'UPSTREAM_ERROR', 'nobody waits');
    });
    expect(errorOf(await exchange(app, opened, { signal: caller.signal })).code).toBe('UPSTREAM_TIMEOUT');
  });

  test('because the provider no longer brokers is reported as a fault of the provider', async () => {
    const direct = await build({ provider: new FakeProvider(), live: app.live, clock: app.clock });
    expect(errorOf(await exchange(direct, opened))).toEqual({ status: 502, code: 'UPSTREAM_ERROR' });
  });
});
