import { TokenSource } from 'livekit-client';
import { TokenVerifier, WebhookReceiver } from 'livekit-server-sdk';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { WidgetKey } from '../../src/stores/tenants/contract.ts';
import { LiveKitProvider } from '../../src/upstream/livekit.ts';
import { service, unique, type Reply, type TestApp } from '../support/app.ts';
import { MINUTE, SECOND } from '../support/clock.ts';
import { API_KEY, API_SECRET, LiveKitServer, webhookOf, type Webhook } from '../support/livekit-server.ts';
import { useApps } from '../support/use-apps.ts';
import { errorOf } from './app.ts';

const { build } = useApps();
const TTL = 300;
/** In micro-dollars, as the agent's price says. */
const MINUTE_COSTS = 60_000;

let server: LiveKitServer;
let app: TestApp;
let shop: string;
let key: WidgetKey;

beforeEach(async () => {
  server = await LiveKitServer.start();
  app = await build({ brokered: provider() });
  vi.useFakeTimers({ toFake: ['Date'], now: app.clock.now() });
  shop = unique('shop');
  const price = { perMinute: MINUTE_COSTS, estimatePerMinute: MINUTE_COSTS };
  const agents = [{ id: 'support', agentName: 'clerk', model: 'clerk-1', price }, { id: 'night' }];
  await app.service.stores.tenants.merge([{ id: shop, name: 'Shop', admins: null, keys: [], agents }]);
  await app.service.tenants.reload();
  key = await app.key({ tenantId: shop, allowOverrides: false, agents: ['support'] });
});

afterEach(async () => {
  vi.useRealTimers();
  await server.close();
});

function provider(more: Partial<ConstructorParameters<typeof LiveKitProvider>[0]> = {}): LiveKitProvider {
  const clock = { now: () => Date.now() };
  const { LIVEKIT_URL: liveKitUrl } = server.settings;
  const keys = { liveKitApiKeys: [API_KEY], liveKitApiSecrets: [API_SECRET] };
  return new LiveKitProvider({ liveKitUrl, ...keys, timeoutMs: 2000, clientSecretTtlSec: TTL, clock, ...more });
}

const ask = (body: unknown = {}, { origin = key.origin, bearer = key.key, ...headers }: Record<string, string> = {}) =>
  app.send({
    method: 'POST',
    path: '/v1/livekit/token',
    body,
    headers: { ...(origin !== '' && { origin }), authorization: `Bearer ${bearer}`, ...headers },
  });

const tokenOf = ({ status, body, text }: Reply): string => {
  if (status !== 201) throw new Error(text);
  return String(body['participant_token']);
};

const claimsOf = (token: string) => new TokenVerifier(API_KEY, API_SECRET).verify(token);

const tell = ({ body, authorization }: Webhook): Promise<Reply> =>
  app.send({
    method: 'POST',
    path: '/v1/livekit/webhook',
    body,
    headers: { authorization, 'content-type': 'application/webhook+json' },
  });

interface Joined {
  readonly token: string;
  readonly room: string;
  readonly identity: string;
  readonly sessionId: string;
}

/** A session whose visitor has a token but has not joined yet. */
async function open(): Promise<Joined> {
  const token = tokenOf(await ask());
  const { sub = '', video } = await claimsOf(token);
  const room = String(video?.room);
  const sessionId = (await app.service.stores.calls.load(room))?.sessionId ?? '';
  return { token, room, identity: sub, sessionId };
}

const told = async (event: string, { room, identity }: Joined, participant: object = {}): Promise<Reply> =>
  tell(
    await webhookOf({
      event,
      room: { name: room, sid: 'RM_1' },
      participant: { sid: 'PA_1', identity, ...participant },
    }),
  );

async function join(): Promise<Joined> {
  const joined = await open();
  await server.join(joined.token);
  expect((await told('participant_joined', joined)).status).toBe(200);
  return joined;
}

const sessionOf = ({ sessionId }: Joined) => app.sessions.find(sessionId);
const callOf = ({ room }: Joined) => app.service.stores.calls.load(room);

/** Lets time pass for the node, with its timers and renewals. */
async function pass(ms: number, stepMs = ms): Promise<void> {
  for (let passed = 0; passed < ms; passed += stepMs) {
    app.clock.advance(stepMs);
    vi.setSystemTime(app.clock.now());
    await look();
  }
}

async function look(): Promise<void> {
  await app.service.heldCalls?.renewLease();
  await app.service.heldCalls?.tick();
  await app.service.heldCalls?.settled();
  await app.sweep();
}

describe('A token for LiveKit', () => {
  test('lets its holder join the session’s room and nothing else, for as long as a client secret is valid', async () => {
    const reply = await ask();
    expect(reply).toMatchObject({ status: 201, body: { server_url: server.settings.LIVEKIT_URL } });
    expect(Object.keys(reply.body)).toEqual(['server_url', 'participant_token']);
    const { iat = 0, ...claims } = await claimsOf(tokenOf(reply));
    const now = Math.floor(Date.now() / 1000);
    expect({ iat, ...claims }).toEqual({
      iss: API_KEY,
      sub: expect.stringMatching(/^sess_/),
      iat: now,
      nbf: now - 60,
      exp: now + TTL,
      video: { room: expect.stringMatching(/^call_[\w-]{22}$/), roomJoin: true },
      roomConfig: { agents: [{ agentName: 'clerk' }] },
    });
  });

  test('is never valid for longer than its session may last, nor for more than six hours', async () => {
    const mint = (clientSecretTtlSec: number, maxDurationSec: number) =>
      provider({ clientSecretTtlSec }).mint({
        maxDurationSec,
        model: 'm',
        voice: 'v',
        tools: [],
        subjectHash: 's',
        signal: new AbortController().signal,
      });
    const now = Math.floor(Date.now() / 1000);
    expect((await mint(7200, 900)).expiresAtSec).toBe(now + 900);
    expect((await mint(86_400, 86_400)).expiresAtSec).toBe(now + 6 * 3600);
  });

  test('names a room that reveals nothing about the session, a new one each time', async () => {
    const [one, two] = [await open(), await open()];
    expect(one.room).not.toBe(two.room);
    expect(one.identity).not.toBe(two.identity);
    const payload = Buffer.from(one.token.split('.')[1] ?? '', 'base64url').toString();
    expect(payload).not.toContain(one.sessionId);
    for (const part of one.sessionId.split(':').slice(1)) expect(payload).not.toContain(part);
  });

  test('is the client secret in the reply to an ordinary create', async () => {
    const { body } = await app.create(key);
    const { value } = body['client_secret'] as { readonly value: string };
    expect(body).toMatchObject({ call: { mode: 'direct', url: null } });
    expect((await claimsOf(value)).sub).toBe(body['id']);
  });

  test('dispatches the requested agent by LiveKit’s name for it, if the key allows it', async () => {
    const named = (agent_name: string) => ask({ room_config: { agents: [{ agent_name }] } });
    expect((await named('clerk')).status).toBe(201);
    expect(await named('stranger')).toMatchObject({ status: 400, body: { code: 'INVALID_REQUEST' } });
    const open = await app.key({ tenantId: shop });
    const reply = await ask(
      { room_config: { agents: [{ agent_name: 'clerk' }] } },
      { bearer: open.key, origin: open.origin },
    );
    expect((await claimsOf(tokenOf(reply))).roomConfig).toEqual({ agents: [{ agentName: 'clerk' }] });
  });

  test.each([
    [{ room_name: 'lobby' }, 400, 'room_name'],
    [{ participant_identity: 'admin' }, 400, 'participant_identity'],
    [{ room_config: { egress: {} } }, 400, 'room_config.egress'],
    [{ room_config: { agents: [{ agent_name: 'clerk', deployment: 'x' }] } }, 400, 'room_config.agents.0.deployment'],
    [{ roomName: 'lobby' }, 400, 'roomName'],
    [{ participant_attributes: { plan: 'x'.repeat(257) } }, 400, 'participant_attributes.plan'],
    [{ participant_name: 'Ada' }, 403, 'participant_name'],
    [{ participant_attributes: { plan: 'gold' } }, 403, 'participant_attributes'],
    [{ room_config: { agents: [{ metadata: 'trust me' }] } }, 403, 'room_config.agents.0.metadata'],
  ])('is refused for %j with %i', async (body, status, path) => {
    const reply = await ask(body);
    expect(reply.status).toBe(status);
    expect(reply.body['details']).toEqual(expect.arrayContaining([expect.objectContaining({ path })]));
    expect(server.rooms.size).toBe(0);
  });

  test('names the visitor if a back end asks for it, or the key lets its pages say so', async () => {
    const body = { participant_name: 'Ada', participant_metadata: '{}', participant_attributes: { plan: 'gold' } };
    const said = { name: 'Ada', metadata: '{}', attributes: { plan: 'gold' } };
    const token = SERVICE.slice('Bearer '.length);
    const byService = await ask(body, {
      origin: '',
      bearer: token,
      'x-switchboard-tenant': shop,
      'x-switchboard-agent': 'support',
    });
    expect(await claimsOf(tokenOf(byService))).toMatchObject(said);
    const open = await app.key({ tenantId: shop });
    expect(await claimsOf(tokenOf(await ask(body, { bearer: open.key, origin: open.origin })))).toMatchObject(said);
  });

  test('is refused as any create is: to a foreign page, for an unknown key, and for too many at once', async () => {
    expect(errorOf(await ask({}, { origin: 'https://evil.example' }))).toEqual({
      status: 403,
      code: 'ORIGIN_MISMATCH',
    });
    expect(errorOf(await ask({}, { bearer: 'w_unknown' }))).toEqual({ status: 401, code: 'INVALID_WIDGET_KEY' });
    const single = await app.key({ tenantId: shop, agents: ['support'], totals: { concurrentSessions: 1 } });
    const page = { bearer: single.key, origin: single.origin };
    const replies = await Promise.all([ask({}, page), ask({}, page), ask({}, page)]);
    expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 429, 429]);
  });

  test('is not available if the provider has no rooms', async () => {
    const other = await build();
    const reply = await other.post('/v1/livekit/token', {}, { authorization: `Bearer ${key.key}`, origin: key.origin });
    expect(reply).toMatchObject({ status: 400, body: { error: expect.stringContaining('UPSTREAM_PROVIDER=livekit') } });
    expect(
      (
        await other.send({
          method: 'POST',
          path: '/v1/livekit/webhook',
          body: '{}',
          headers: { 'content-type': 'application/webhook+json' },
        })
      ).status,
    ).toBe(401);
  });
});

const SERVICE = service.authorization;

describe('LiveKit’s own TokenSource', () => {
  test('gets a token from our endpoint, as a page with a widget key', async () => {
    vi.useRealTimers();
    const sent: unknown[] = [];
    vi.stubGlobal('fetch', async (_url: string, init: RequestInit & { readonly body: string }) => {
      sent.push(JSON.parse(init.body));
      const headers = Object.fromEntries(
        Object.entries(init.headers as Record<string, string>).map(([n, v]) => [n.toLowerCase(), v]),
      );
      const reply = await app.send({
        method: 'POST',
        path: '/v1/livekit/token',
        body: init.body,
        headers: { ...headers, origin: key.origin },
      });
      return new Response(reply.text, { status: reply.status });
    });
    try {
      const headers = { Authorization: `Bearer ${key.key}` };
      const source = TokenSource.endpoint('https://voice.example.com/v1/livekit/token', { headers });
      const found = await source.fetch({ agentName: 'clerk' });
      expect(sent).toEqual([{ room_config: { agents: [{ agent_name: 'clerk' }] } }]);
      expect(found).toMatchObject({
        serverUrl: server.settings.LIVEKIT_URL,
        participantToken: expect.stringMatching(/^ey/),
      });
      await expect(source.fetch({ roomName: 'lobby' })).rejects.toThrow(/400.*room_name/);
    } finally {
      vi.unstubAllGlobals();
    }
  });
});

describe('A session in a room', () => {
  test('starts counting minutes when the visitor joins, not when an agent does', async () => {
    const joined = await open();
    await pass(20 * SECOND);
    await told('room_started', joined);
    await told('participant_joined', { ...joined, identity: 'agent-AJ_1' });
    expect(await callOf(joined)).toMatchObject({ state: 'creating', openedAtMs: null });
    await told('participant_joined', joined);
    expect(await callOf(joined)).toMatchObject({ state: 'open', openedAtMs: app.clock.now() });
  });

  test('stays alive on that word, without heartbeats, as long as any session', async () => {
    const joined = await join();
    await pass(15 * MINUTE - 10 * SECOND, 10 * SECOND);
    expect(await sessionOf(joined)).toMatchObject({ endReason: null });
    expect(server.rooms.size).toBe(1);
    await pass(12 * SECOND, SECOND);
    expect(await sessionOf(joined)).toMatchObject({ endReason: 'duration_exceeded' });
    expect(server.rooms.size).toBe(0);
  });

  test('is charged its minutes at the price of a minute', async () => {
    const waiting = await open();
    await pass(MINUTE, 10 * SECOND);
    expect(await app.service.stores.ledger.metersOf([waiting.room])).toEqual([]);
    const joined = await join();
    await pass(2 * MINUTE, 10 * SECOND);
    await told('participant_left', joined, { disconnectReason: 'CLIENT_INITIATED' });
    await look();
    const call = await callOf(joined);
    expect(call).toMatchObject({ state: 'closing', closeReason: 'session_ended' });
    await app.service.metering.flush();
    const [meter] = await app.service.stores.ledger.metersOf([joined.room]);
    expect(meter).toMatchObject({ basis: 'clock', microDollars: 2 * MINUTE_COSTS });
  });

  test('ends when its minutes have used up the day’s quota', async () => {
    key = await app.key({ tenantId: shop, agents: ['support'], limits: { dailyDollars: 0.1 } });
    const joined = await join();
    await pass(90 * SECOND, 5 * SECOND);
    expect(await sessionOf(joined)).toMatchObject({ endReason: null });
    await pass(20 * SECOND, 5 * SECOND);
    expect(await sessionOf(joined)).toMatchObject({ endReason: 'quota_exceeded' });
    expect(server.rooms.size).toBe(0);
    expect(errorOf(await ask())).toEqual({ status: 429, code: 'DAILY_QUOTA_EXCEEDED' });
  });

  test('that nobody joins goes idle like any other, and its room is deleted', async () => {
    const joined = await open();
    await server.join(joined.token);
    await pass(290 * SECOND, 10 * SECOND);
    await pass(11 * SECOND, SECOND);
    expect(await callOf(joined)).toMatchObject({ state: 'closing', closeReason: 'session_idle' });
    expect(server.rooms.size).toBe(0);
  });

  test.each([
    ['participant_left', { disconnectReason: 'CLIENT_INITIATED' }],
    ['participant_left', { disconnectReason: 14 }],
    ['participant_left', { disconnect_reason: 'SIGNAL_CLOSE' }],
    ['participant_left', {}],
    ['room_finished', {}],
  ])('ends with %s %j', async (event, participant) => {
    const joined = await join();
    await told(event, joined, participant);
    expect(await sessionOf(joined)).toMatchObject({ endReason: 'upstream_ended' });
    await look();
    expect(server.rooms.size).toBe(0);
  });

  test.each([
    ['participant_left', { disconnectReason: 'DUPLICATE_IDENTITY' }],
    ['participant_left', { disconnectReason: 8 }],
    ['participant_left', { identity: 'agent-AJ_1' }],
    ['track_published', {}],
    ['participant_connection_aborted', {}],
    ['something_new', {}],
  ])('goes on with %s %j', async (event, participant) => {
    const joined = await join();
    expect((await told(event, joined, participant)).status).toBe(200);
    expect(await sessionOf(joined)).toMatchObject({ endReason: null });
  });

  test('has its room deleted at once when an operator ends it', async () => {
    const joined = await join();
    await app.post(`/api/operator/sessions/${encodeURIComponent(joined.sessionId)}/end`, { reason: 'abuse' }, service);
    await look();
    expect(server.rooms.size).toBe(0);
    expect(await sessionOf(joined)).toMatchObject({ endReason: 'closed_by_operator' });
  });

  test('has its room deleted once LiveKit is back, however many tries that takes', async () => {
    const joined = await join();
    server.isAway = true;
    await app.sessions.end(joined.sessionId, 'closed_by_client', app.clock.now());
    await pass(30 * SECOND, SECOND);
    expect(server.rooms.size).toBe(1);
    server.isAway = false;
    await pass(31 * SECOND, SECOND);
    expect(server.rooms.size).toBe(0);
  });

  test('works alike whichever node LiveKit tells, and whichever holds its call', async () => {
    const other = await build({ brokered: provider(), live: app.live, clock: app.clock });
    const joined = await open();
    await server.join(joined.token);
    const webhook = (event: string) =>
      webhookOf({ event, room: { name: joined.room }, participant: { identity: joined.identity } });
    const tellOther = async (event: string): Promise<Reply> => {
      const { body, authorization } = await webhook(event);
      const headers = { authorization, 'content-type': 'application/webhook+json' };
      return other.send({ method: 'POST', path: '/v1/livekit/webhook', body, headers });
    };
    expect((await tellOther('participant_joined')).status).toBe(200);
    // This node holds the call, which keeps the session active.
    await pass(6 * MINUTE, 10 * SECOND);
    expect(await sessionOf(joined)).toMatchObject({ endReason: null });
    await app.service.heldCalls?.stop();
    for (let n = 0; n < 5; n += 1) {
      app.clock.advance(SECOND);
      vi.setSystemTime(app.clock.now());
      await other.service.heldCalls?.renewLease();
      await other.service.heldCalls?.tick();
      await other.service.heldCalls?.settled();
    }
    expect(await callOf(joined)).toMatchObject({ state: 'open', ownerNode: other.service.heldCalls?.node });
    expect((await tellOther('participant_left')).status).toBe(200);
    await other.service.heldCalls?.settled();
    expect(server.rooms.size).toBe(0);
  });

  test('accepts its agent’s usage reports, by the name of the room and with a service token', async () => {
    const joined = await join();
    const report = (headers: Record<string, string>) =>
      app.post('/api/auth/usage', { call: joined.room, tokens: 1200, dollars: 0.02 }, headers);
    expect((await report({})).status).toBe(401);
    expect(await report(service)).toMatchObject({ status: 200, body: { usage: { tokens: 1200 } } });
    const unknown = await app.post('/api/auth/usage', { call: 'call_unknown', tokens: 1, dollars: 0 }, service);
    expect(errorOf(unknown)).toEqual({ status: 404, code: 'SESSION_NOT_FOUND' });
  });
});

describe('A token that outlives its session', () => {
  test('opens the room for a minute at most, without any webhook, until the token has expired', async () => {
    const joined = await join();
    let token = await server.refreshed(joined.token);
    await app.sessions.end(joined.sessionId, 'closed_by_operator', app.clock.now());
    await pass(5 * SECOND, SECOND);
    for (const wait of [0, 200, 500]) {
      await pass(wait * SECOND, 10 * SECOND);
      await server.join(token);
      token = await server.refreshed(token);
      await pass(60 * SECOND, 5 * SECOND);
      await pass(SECOND);
      expect(server.rooms.size).toBe(0);
      expect(await callOf(joined)).toMatchObject({ state: 'closing' });
    }
    await pass(12 * MINUTE, 10 * SECOND);
    expect(await callOf(joined)).toMatchObject({ state: 'closed', hangup: 'confirmed' });
    await expect(server.join(token)).rejects.toThrow(/exp/);
  });

  test('opens the room for no longer than a webhook takes', async () => {
    const joined = await join();
    await app.sessions.end(joined.sessionId, 'closed_by_operator', app.clock.now());
    await pass(30 * SECOND, SECOND);
    await server.join(joined.token);
    await told('room_started', joined);
    await look();
    expect(server.rooms.size).toBe(0);
    await pass(12 * MINUTE, 10 * SECOND);
    server.rooms.set(joined.room, { name: joined.room, agents: [], identities: new Set() });
    server.isAway = true;
    expect((await told('room_started', joined)).status).toBe(502);
    server.isAway = false;
    expect((await told('room_started', joined)).status).toBe(200);
    expect(server.rooms.size).toBe(0);
  });

  test('adds no minutes after the session’s end', async () => {
    const joined = await join();
    await pass(MINUTE, 10 * SECOND);
    await app.sessions.end(joined.sessionId, 'closed_by_operator', app.clock.now());
    await look();
    await pass(13 * MINUTE, 10 * SECOND);
    await app.service.metering.flush();
    const [meter] = await app.service.stores.ledger.metersOf([joined.room]);
    expect(meter).toMatchObject({ basis: 'clock', microDollars: MINUTE_COSTS });
  });

  test('of a session that nobody joined expires with it, which does not count as a late hang-up', async () => {
    const joined = await open();
    await app.sessions.end(joined.sessionId, 'closed_by_operator', app.clock.now());
    await pass(MINUTE, 5 * SECOND);
    expect(await callOf(joined)).toMatchObject({ state: 'closing' });
    expect(await app.service.stores.calls.countClosing(app.clock.now(), [shop])).toBe(0);
    await pass(13 * MINUTE, 10 * SECOND);
    expect(await callOf(joined)).toMatchObject({ state: 'closed', hangup: 'already_over' });
  });
});

describe('A webhook', () => {
  test('is read as LiveKit’s own receiver reads it', async () => {
    const joined = await join();
    const webhook = await webhookOf({ event: 'room_finished', room: { name: joined.room } });
    const received = await new WebhookReceiver(API_KEY, API_SECRET).receive(webhook.body, webhook.authorization);
    expect(received).toMatchObject({ event: 'room_finished', room: { name: joined.room } });
    expect(await tell(webhook)).toMatchObject({ status: 200, body: { ok: true } });
  });

  test('that LiveKit did not sign is refused, and changes nothing', async () => {
    const joined = await join();
    const event = { event: 'room_finished', room: { name: joined.room } };
    const good = await webhookOf(event);
    const [head = '', payload = '', signature = ''] = good.authorization.split('.');
    const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`;
    const forged: readonly Webhook[] = [
      { ...good, authorization: '' },
      { ...good, body: `${good.body} ` },
      { ...good, body: good.body.replace(joined.room, 'call_AAAAAAAAAAAAAAAAAAAAAA') },
      { ...good, authorization: unsigned },
      { ...good, authorization: `${head}.${payload}.${signature.slice(0, -2)}AA` },
      { ...good, authorization: joined.token },
      { ...good, authorization: `Bearer ${joined.token}` },
      { ...good, authorization: 'x'.repeat(5000) },
      await webhookOf(event, { secret: 'another-secret-of-another-project-of-livekit' }),
      await webhookOf(event, { key: 'APIanother' }),
      await webhookOf(event, { ttl: 3600 }),
    ];
    for (const webhook of forged) expect(errorOf(await tell(webhook))).toEqual({ status: 401, code: 'AUTH_REQUIRED' });
    expect(await sessionOf(joined)).toMatchObject({ endReason: null });
  });

  test('that is old is refused', async () => {
    const joined = await join();
    const webhook = await webhookOf({ event: 'room_finished', room: { name: joined.room } });
    await pass(7 * MINUTE, 10 * SECOND);
    expect((await tell(webhook)).status).toBe(401);
    expect(await sessionOf(joined)).toMatchObject({ endReason: null });
  });

  test('that comes twice, late or in the wrong order changes nothing', async () => {
    const joined = await open();
    const [is, left] = [
      await webhookOf({
        event: 'participant_joined',
        room: { name: joined.room },
        participant: { identity: joined.identity },
      }),
      await webhookOf({
        event: 'participant_left',
        room: { name: joined.room },
        participant: { identity: joined.identity },
      }),
    ];
    await server.join(joined.token);
    for (const webhook of [is, is, left, left, is]) expect((await tell(webhook)).status).toBe(200);
    await look();
    expect(server.rooms.size).toBe(0);
    expect(await sessionOf(joined)).toMatchObject({ endReason: 'upstream_ended' });
    expect(await callOf(joined)).toMatchObject({ state: 'closing' });
  });

  test('about a foreign room, or about no room, is accepted and ignored', async () => {
    const joined = await join();
    const rooms = ['lobby', 'call_\u0000', 'call_\ud800'].map((name) => ({ event: 'room_finished', room: { name } }));
    for (const event of [...rooms, { event: 'egress_ended' }, {}])
      expect((await tell(await webhookOf(event))).status).toBe(200);
    expect(await sessionOf(joined)).toMatchObject({ endReason: null });
    expect(server.requests).toEqual([]);
  });

  test('may be signed with any of the keys during a rotation', async () => {
    const [fresh, freshSecret] = ['APIfresh', 'the-next-secret-of-livekit-of-the-tests-1'];
    const both = { liveKitApiKeys: [fresh, API_KEY], liveKitApiSecrets: [freshSecret, API_SECRET] };
    const rotating = provider(both);
    const webhooks = [
      await webhookOf({ event: 'x' }),
      await webhookOf({ event: 'x' }, { key: fresh, secret: freshSecret }),
    ];
    for (const { body, authorization } of webhooks)
      expect(await rotating.readWebhook(body, authorization, Date.now())).toMatchObject({ type: 'other' });
    const mixed = await webhookOf({ event: 'x' }, { key: fresh, secret: API_SECRET });
    expect(await rotating.readWebhook(mixed.body, mixed.authorization, Date.now())).toBeUndefined();
  });
});

describe('LiveKit’s RoomService', () => {
  const never = (): AbortSignal => new AbortController().signal;

  test('deletes existing rooms, reports others as not found, and is told from a missing endpoint', async () => {
    server.rooms.set('call_one', { name: 'call_one', agents: [], identities: new Set() });
    expect(await provider().isKnown('call_one', never())).toBe(true);
    expect(await provider().hangUp('call_one', never())).toBe('asked');
    expect(await provider().hangUp('call_one', never())).toBe('already_over');
    expect(await provider().isKnown('call_one', never())).toBe(false);
    const elsewhere = provider({ liveKitUrl: `${server.settings.LIVEKIT_URL}/wrong` });
    await expect(elsewhere.hangUp('call_one', never())).rejects.toMatchObject({
      facts: { status: 404, code: 'bad_route' },
    });
  });

  test('refuses another secret, and the fault contains neither key nor secret', async () => {
    const stranger = provider({ liveKitApiSecrets: ['a-wrong-secret-that-is-long-enough-for-it'] });
    const fault: unknown = await stranger.hangUp('call_one', never()).catch((error: unknown) => error);
    expect(fault).toMatchObject({ kind: 'refused', facts: { status: 401, code: 'unauthenticated' } });
    expect(JSON.stringify(fault) + String(fault)).not.toMatch(/wrong-secret|APItest/);
  });
});
