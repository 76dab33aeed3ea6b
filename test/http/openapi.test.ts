import { Validator } from '@seriousme/openapi-schema-validator';
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { Unavailable } from '../../src/kernel/errors.ts';
import { Refusal } from '../../src/protocol/refusal.ts';
import { UpstreamFault } from '../../src/upstream/contract.ts';
import { LiveKitProvider } from '../../src/upstream/livekit.ts';
import { CONSOLE, SERVICE_TOKEN, somebody, unique, type Reply, type Request } from '../support/app.ts';
import { ManualClock, MINUTE, SECOND } from '../support/clock.ts';
import { FakeProvider } from '../support/fake-provider.ts';
import { upgrade } from './app.ts';
import { closedCall, fakeCalls, OFFER, openBrokered } from './calls.ts';
import { webhookOf } from '../support/livekit-server.ts';
import { app, useApp } from '../support/use-apps.ts';
import { Conformance, operationsOf, type Document } from './conformance.ts';

const { build, buildForFile, database } = useApp({ env: { OPERATOR_EMAILS: 'ops@example.com' } });
const EVIL = 'https://evil.example';

let document: Document;
let conformance: Conformance;
beforeAll(async () => {
  document = (await (await buildForFile()).get('/openapi.json')).body as unknown as Document;
});
beforeEach(async () => {
  conformance = new Conformance(document);
});

type Headers = Readonly<Record<string, string>>;

async function send(request: Request, from = app): Promise<Reply> {
  const reply = await from.send(request);
  conformance.check(request, reply);
  return reply;
}

const post = (path: string, body: unknown, headers: Headers = {}) => send({ method: 'POST', path, body, headers });
const get = (path: string, headers: Headers = {}) => send({ path, headers });
const newestCode = (): string => /\b\d{6}\b/.exec(app.outbox.list()[0]?.text ?? '')?.[0] ?? '';

async function driveSessions(): Promise<void> {
  const key = await app.key({ limits: { sessionsPerMinute: 3, concurrentSessions: 1 }, agents: ['support'] });
  const email = somebody();
  const widget = { origin: key.origin };
  const body = { widgetKey: key.key, email };
  const keyed = { ...widget, 'idempotency-key': 'k'.repeat(16) };
  const { answer } = app.provider;
  for (const fault of [
    new UpstreamFault('timeout', 'late'),
    new UpstreamFault('refused', 'no'),
    new Error('a defect'),
  ]) {
    app.provider.answer = () => Promise.reject(fault);
    await post('/api/session', body, widget);
  }
  app.provider.answer = answer;
  const { body: opened } = await post('/api/session', body, keyed);
  await post('/api/session', { ...body, agentId: 'support' }, keyed);
  await post('/api/session', { ...body, agentId: 'sales' }, widget);
  await post('/api/session', body, { origin: EVIL });
  await post('/api/session', { widgetKey: 'w_nobody' }, widget);
  for (const asked of [key.key, `${key.key}&agentId=sales`, 'w_nobody'])
    await get(`/api/realtime/agent?widgetKey=${asked}`, widget);
  await get(`/api/realtime/agent?widgetKey=${key.key}`, { origin: EVIL });
  for (const asked of [key.key, 'w_nobody']) await get(`/api/realtime/challenge?widgetKey=${asked}`, widget);
  await get(`/api/realtime/challenge?widgetKey=${key.key}`, { origin: EVIL });
  const challenged = await build({ env: { BOT_PROVIDER: 'altcha', BOT_CHALLENGE: 'always' } });
  await send({ path: `/api/realtime/challenge?widgetKey=${key.key}`, headers: widget }, challenged);
  await send({ method: 'POST', path: '/api/session', body, headers: widget }, challenged);
  await post('/api/session', { ...body, resume: 'rs_unknown' }, widget);
  for (let n = 0; n < 4; n += 1) await post('/api/session', body, widget);

  const { sm_session_id } = opened;
  app.clock.advance(5 * SECOND);
  await post('/api/realtime/heartbeat', { sm_session_id, email }, widget);
  await post('/api/realtime/heartbeat', { sm_session_id });
  await post('/api/realtime/end', { sm_session_id, email });
  await post('/api/realtime/end', { sm_session_id });
  for (const value of [5, 6]) await post('/api/realtime/rate', { sm_session_id, email, value }, widget);
  await post('/api/realtime/rate', { sm_session_id, value: 5 });
  await post('/api/realtime/heartbeat', { sm_session_id, email }, widget);
  app.clock.advance(6 * MINUTE);
  await post('/api/realtime/rate', { sm_session_id, email, value: 5 }, widget);

  await get('/api/realtime/socket', upgrade);
  await get('/api/realtime/socket', { ...upgrade, origin: EVIL });
  const watching = { ...upgrade, 'sec-websocket-protocol': 'switchboard.operator.v1' };
  await get('/api/operator/feed', { ...watching, authorization: `Bearer ${SERVICE_TOKEN}` });
  await get('/api/operator/feed', watching);
  await get('/api/operator/feed', { ...watching, origin: EVIL });
}

async function driveCalls(path: string): Promise<void> {
  const brokered = await build({ provider: new FakeProvider({ call: 'brokered' }) });
  const open = fakeCalls(brokered);
  const key = await brokered.key();
  const { id: sm_session_id, origin } = await openBrokered(brokered, key);
  const ticket = async (body: object) =>
    send({ method: 'POST', path: '/api/realtime/ticket', body, headers: { origin } }, brokered);
  const exchangeOne = async (headers: Headers = {}): Promise<void> => {
    const { value } = (await ticket({ sm_session_id })).body['client_secret'] as { readonly value: string };
    const credential = { authorization: `Bearer ${value}`, origin, 'content-type': 'application/sdp' };
    const request = { method: 'POST', path, body: OFFER };
    await send({ ...request, headers: { ...credential, ...headers } }, brokered);
  };
  await exchangeOne();
  await exchangeOne({ authorization: 'Bearer ek_unknown' });
  await exchangeOne({ origin: EVIL });
  await exchangeOne({ 'content-type': 'application/json' });
  for (const code of ['CALL_IN_PROGRESS', 'UPSTREAM_ERROR', 'UPSTREAM_TIMEOUT'] as const) {
    open.mockResolvedValueOnce(new Refusal(code, 'no'));
    await exchangeOne();
  }
  open.mockRejectedValueOnce(new Unavailable('database', new Error('gone')));
  await exchangeOne();
  await brokered.sessions.end(sm_session_id, 'closed_by_client', brokered.clock.now());
  await ticket({ sm_session_id });
  await ticket({ sm_session_id: 's:nobody' });
}

async function driveVendorPaths(): Promise<void> {
  const brokered = await build({ provider: new FakeProvider({ call: 'brokered' }) });
  const key = await brokered.key({ limits: { sessionsPerMinute: 4, concurrentSessions: 2 }, allowOverrides: false });
  const page = { origin: key.origin, authorization: `Bearer ${key.key}` };
  const token = { authorization: `Bearer ${SERVICE_TOKEN}` };
  const secret = async (body: unknown, headers: Headers): Promise<Reply> =>
    send({ method: 'POST', path: '/v1/realtime/client_secrets', body, headers }, brokered);
  await secret({}, { ...page, 'idempotency-key': 'k'.repeat(16) });
  await secret({ session: { type: 'realtime' } }, { ...page, 'idempotency-key': 'k'.repeat(16) });
  await secret({ session: { instructions: 'Sing.' } }, page);
  await secret({ session: { type: 'transcription' } }, page);
  await secret({}, { ...page, origin: EVIL });
  await secret({}, { ...page, authorization: 'Bearer w_nobody' });
  await secret({}, { origin: key.origin });
  for (let n = 0; n < 4; n += 1) await secret({}, page);
  for (const headers of [token, { ...token, 'x-switchboard-tenant': key.tenantId }, {}])
    await send({ path: '/v1/models', headers }, brokered);
  const own = await app.key();
  const { answer } = app.provider;
  for (const fault of [new UpstreamFault('timeout', 'late'), new UpstreamFault('refused', 'no')]) {
    app.provider.answer = () => Promise.reject(fault);
    const headers = { origin: own.origin, authorization: `Bearer ${own.key}` };
    await send({ method: 'POST', path: '/v1/realtime/client_secrets', headers });
  }
  app.provider.answer = answer;
}

async function driveRooms(): Promise<void> {
  const [liveKitApiKeys, liveKitApiSecrets] = [['APIdriven'], ['a-secret-of-livekit-that-nobody-else-has']];
  const options = { liveKitUrl: 'wss://livekit.invalid', liveKitApiKeys, liveKitApiSecrets };
  const clock = new ManualClock(Date.now());
  const provider = new LiveKitProvider({ ...options, timeoutMs: 100, clientSecretTtlSec: 60 });
  const rooms = await build({ clock, brokered: provider, env: { RATE_PAGE_PER_MIN: '5' } });
  const key = await rooms.key({ limits: { sessionsPerMinute: 5 }, allowOverrides: false });
  const token = (body: unknown, headers: Headers = {}): Promise<Reply> => {
    const page = { origin: key.origin, authorization: `Bearer ${key.key}` };
    return send({ method: 'POST', path: '/v1/livekit/token', body, headers: { ...page, ...headers } }, rooms);
  };
  await token({});
  await token({ room_name: 'lobby' });
  await token({ participant_name: 'Ada' });
  await token({}, { origin: EVIL });
  await token({}, { authorization: 'Bearer w_nobody' });
  await token({}, { authorization: '' });
  const repeated = { 'idempotency-key': 'r'.repeat(16) };
  await token({}, repeated);
  await token({ room_config: {} }, repeated);
  for (let n = 0; n < 5; n += 1) await token({});
  const over = { ...closedCall('s:driven'), id: unique('call_driven'), provider: provider.name };
  await rooms.service.stores.calls.insert(over, 1);
  const tell = async (room: string, headers: Headers = {}): Promise<void> => {
    const signed = { key: 'APIdriven', secret: liveKitApiSecrets[0] };
    const { body, authorization } = await webhookOf({ event: 'room_started', room: { name: room } }, signed);
    const own = { 'content-type': 'application/webhook+json', authorization, ...headers };
    await send({ method: 'POST', path: '/v1/livekit/webhook', body, headers: own }, rooms);
  };
  await tell('lobby');
  await tell('lobby', { authorization: 'x' });
  await tell(over.id);
  database().isAway = true;
  await tell(over.id);
  await token({});
  database().isAway = false;
  for (let n = 0; n < 3; n += 1) await tell('lobby');
}

async function driveUsage(): Promise<void> {
  const email = somebody();
  const key = await app.key({ limits: { dailyTokens: 10 } });
  const sm_session_id = await app.open(key, { email });
  const report = { email, tokens: 10, dollars: 0.5 };
  const keyed = { authorization: `Bearer ${SERVICE_TOKEN}`, 'idempotency-key': 'k' };
  await post('/api/auth/usage', { ...report, sm_session_id });
  await post('/api/auth/usage', { ...report, sm_session_id });
  await post('/api/auth/usage', { tokens: 1, dollars: 0, sm_session_id });
  await post('/api/auth/usage', report);
  await post('/api/auth/usage', report, { cookie: await app.login(email), origin: EVIL });
  await post('/api/auth/usage', report, keyed);
  await post('/api/auth/usage', { ...report, tokens: 2 }, keyed);
  await post('/api/session', { widgetKey: key.key, email }, { origin: key.origin });
}

async function driveLogins(): Promise<void> {
  const email = somebody();
  for (let n = 0; n < 4; n += 1) await post('/api/auth/otp/send', { email });
  await post('/api/auth/otp/verify', { email, code: newestCode() });
  await post('/api/auth/otp/verify', { email, code: newestCode() });
  const cookie = await app.login(email);
  await post('/api/auth/otp/verify', { email, code: '123456' }, { cookie, origin: EVIL });
  await get('/api/auth/session', { cookie });
  await get('/api/auth/session');
  await post('/api/session', {}, { cookie, origin: EVIL });
  await get('/api/auth/logins', { cookie });
  const senders: readonly Headers[] = [{}, { cookie, origin: EVIL }, { cookie, origin: CONSOLE }];
  for (const headers of senders) await post('/api/auth/logins/auth_nobody/revoke', {}, headers);
  const another = await app.login(email);
  const { body: own } = await get('/api/auth/session', { cookie: another });
  await post(`/api/auth/logins/${String(own['sessionId'])}/revoke`, {}, { cookie: another, origin: CONSOLE });
  await post('/api/auth/logout', {}, { cookie, origin: EVIL });
  await post('/api/auth/logout', {}, { cookie, origin: CONSOLE });
}

async function driveOperators(id: string): Promise<void> {
  const operator: Headers = await app.as('ops@example.com');
  const plain = ['/api/operator/me', '/api/operator/settings', '/api/operator/keys', '/api/operator/secrets'];
  plain.push('/api/operator/stop', '/api/operator/budgets', '/api/operator/views');
  const { id: keyId } = await app.key();
  plain.push('/api/operator/logins', '/api/operator/challenges');
  const { body: login } = await get('/api/auth/session', operator);
  const [challenge] = (await app.get('/api/operator/challenges', operator)).body['challenges'] as { id: string }[];
  plain.push(`/api/operator/logins/${String(login['sessionId'])}`, `/api/operator/challenges/${challenge?.id}`);
  const other = await get('/api/auth/session', { cookie: await app.login(somebody()) });
  const whatIf = {
    from: '2030-01-01T00:00:00Z',
    to: '2030-01-02T00:00:00Z',
    tenantId: 'acme',
    change: { totals: { dollarsDaily: 1 } },
  };
  const budget = { tenantId: 'acme', id: 'march', of: 'tenant', period: 'month', dollars: 1000 };
  const aView = { name: 'stale', href: '/console/sessions?state=stale', tenantId: 'acme' };
  const newKey = { tenantId: 'acme', id: 'described', origin: 'https://described.example' };
  const callers: Headers[] = [operator, {}, { cookie: await app.login(somebody()) }];
  const one = `/api/operator/sessions/${encodeURIComponent(id)}`;
  await app.service.stores.calls.insert(closedCall(id), 3);
  for (const headers of callers) {
    const shown = [
      'overview',
      'activity',
      'sessions?limit=5',
      'usage',
      'export/sessions',
      'export/usage',
      'reconciliation',
      'refusals',
      'nodes',
      'changes',
      'machines',
      'audit',
    ];
    for (const path of [
      ...shown.map((what) => `/api/operator/${what}`),
      one,
      `${one}/events`,
      `${one}/calls/call_1`,
      '/api/operator/calls?limit=5',
      '/api/operator/calls/call_1',
      ...plain,
      '/metrics',
    ])
      await get(path, headers);
    await post(`${one}/end`, { reason: 'test' }, headers);
    await post(`${one}/whisper`, { text: 'x' }, headers);
    await post('/api/operator/sessions/end', { filter: { tenantId: 'acme' }, dryRun: true }, headers);
    await post('/api/operator/search', { q: 'acme' }, headers);
    await post('/api/operator/what-if', whatIf, headers);
    await post('/api/operator/addresses/lift', { email: 'ann@example.com', reason: 'new laptop' }, headers);
    await post('/api/operator/keys', newKey, headers);
    await post('/api/operator/secrets', { tenantId: 'acme', name: 'crm', value: 'x' }, headers);
    await post('/api/operator/secrets/signing', { tenantId: 'acme' }, headers);
    await post('/api/operator/secrets/crm/delete', { tenantId: 'acme' }, headers);
    const { body: saved } = await post('/api/operator/views', aView, headers);
    const { id: viewId } = (saved['view'] ?? {}) as { readonly id?: string };
    for (let n = 0; n < 2; n += 1)
      await send({ method: 'DELETE', path: `/api/operator/views/${viewId ?? 'none'}`, headers });
    await post('/api/operator/budgets', budget, headers);
    const path = '/api/operator/budgets/march?tenantId=acme';
    for (const version of [1, 9]) await send({ method: 'PATCH', path, body: { version, dollars: 3 }, headers });
    for (let n = 0; n < 2; n += 1) await send({ method: 'DELETE', path, headers });
    for (const what of ['stop', 'resume']) await post(`/api/operator/${what}`, { tenantId: 'globex' }, headers);
    await post(`/api/operator/logins/${String(other.body['sessionId'])}/revoke`, {}, headers);
    for (const what of ['pause', 'resume', 'revoke'])
      await post(`/api/operator/keys/${keyId}/${what}`, { tenantId: 'acme' }, headers);
  }
  const tooLong = ['refusals?from=2020-01-01T00:00:00Z', 'changes?since=2020-01-01T00:00:00Z'];
  const wrong = [
    'sessions?limit=0',
    'usage?limit=0',
    'refusals?limit=0',
    'changes?since=never',
    'machines?id=all',
    'activity?span=week',
  ];
  for (const query of [
    ...wrong,
    'audit?limit=0',
    'usage?from=2020-01-01T00:00:00Z',
    'export/usage?from=2020-01-01T00:00:00Z',
    'refusals?requestId=req_unknown',
    ...tooLong,
  ])
    await get(`/api/operator/${query}`, operator);
  const { etag = '' } = (await get('/api/operator/machines', operator)).headers;
  await get('/api/operator/machines', { ...operator, 'if-none-match': etag });
  const record = await app.sessions.find(await app.open(await app.key()));
  if (record === undefined) throw new Error('opened just now');
  const ref = record.id.slice(0, 42);
  await app.service.stores.history.insert({ record: { ...record, id: `${ref}${'-'.repeat(15)}` }, state: 'engaged' });
  const parts = ['', '/events', '/calls/call_1', '/webhooks'];
  for (const what of parts) await get(`/api/operator/sessions/${encodeURIComponent(ref)}${what}`, operator);
  await post(`/api/operator/sessions/${encodeURIComponent(ref)}/end`, {}, operator);
  for (const what of parts) await get(`/api/operator/sessions/nobody${what}`, operator);
  await get(`${one}/calls/call_none`, operator);
  await get('/api/operator/calls/call_none', operator);
  await get('/api/operator/calls?limit=0', operator);
  await post('/api/operator/sessions/nobody/end', {}, operator);
  await post('/api/operator/sessions/nobody/whisper', { text: 'x' }, operator);
  await post('/api/operator/sessions/nobody/end', {}, { ...operator, origin: EVIL });
  await post('/api/operator/sessions/end', { filter: {} }, operator);
  await post('/api/operator/sessions/end', { filter: {}, all: true, expected: 0 }, operator);
  await post('/api/operator/sessions/end', { filter: { tenantId: 'acme' }, expected: 900 }, operator);
  await get('/api/operator/keys?tenantId=', operator);
  await post('/api/operator/keys', newKey, operator);
  const boss: Headers = await app.as('boss@globex.example');
  await post('/api/operator/keys', newKey, boss);
  for (const what of ['pause', 'resume', 'revoke'])
    await post(`/api/operator/keys/nobody/${what}`, { tenantId: 'acme' }, operator);
  for (const what of ['stop', 'resume']) {
    await post(`/api/operator/${what}`, { tenantId: 'nobody' }, operator);
    await post(`/api/operator/${what}`, { tenant: 'acme' }, operator);
    await post(`/api/operator/${what}`, {}, { ...operator, origin: EVIL });
  }
  await get('/api/operator/stop?tenantId=', operator);
  for (const wrongly of [{ from: whatIf.to }, { from: '2020-01-01T00:00:00Z' }, { tenantId: 'nobody' }])
    await post('/api/operator/what-if', { ...whatIf, ...wrongly }, operator);
  await post('/api/operator/what-if', whatIf, { ...operator, origin: EVIL });
  await get('/api/operator/budgets?tenantId=', operator);
  await post('/api/operator/budgets', { ...budget, dollars: 0 }, operator);
  await post('/api/operator/budgets', { ...budget, tenantId: 'nobody' }, operator);
  for (let n = 0; n < 2; n += 1) await post('/api/operator/budgets', { ...budget, id: 'twice' }, operator);
  await post('/api/operator/budgets', budget, { ...operator, origin: EVIL });
  for (const [method, body] of [
    ['PATCH', { version: 1, dollars: 3 }],
    ['DELETE', undefined],
  ] as const) {
    const path = '/api/operator/budgets/twice';
    await send({ method, path: `${path}?tenantId=acme`, body, headers: { ...operator, origin: EVIL } });
    await send({ method, path: `${path}?tenantId=`, body, headers: operator });
  }
  for (const body of [{}, { version: 1, dollars: 3 }])
    await send({ method: 'PATCH', path: '/api/operator/budgets/nobody', body, headers: operator });
  const inFile = {
    ...budget,
    tenantId: 'acme',
    of: 'tenant',
    period: 'month',
    from: null,
    microDollars: 1,
    tokens: null,
    microMinutes: null,
  } as const;
  const kept = {
    ...inFile,
    id: 'filed',
    warnAt: [],
    tell: null,
    atLimit: 'end',
    madeBy: null,
    changedAtMs: 0,
  } as const;
  const merge = (budgets: readonly (typeof kept)[]) =>
    app.service.stores.tenants.merge([], {
      isPart: true,
      budgets: { budgets, tenantIds: ['acme'], day: '2030-01-01' },
    });
  await merge([kept]);
  await send({ method: 'DELETE', path: '/api/operator/budgets/filed?tenantId=acme', headers: operator });
  await merge([]);
  for (const id of ['filed', 'twice']) await app.service.stores.budgets.delete('acme', id);
  await get('/api/operator/views?tenantId=acme', operator);
  await post('/api/operator/views', { ...aView, href: 'https://evil.example/' }, operator);
  await post('/api/operator/views', { ...aView, tenantId: 'nobody' }, operator);
  await post('/api/operator/views', aView, { ...operator, origin: EVIL });
  await send({ method: 'DELETE', path: '/api/operator/views/x', headers: { ...operator, origin: EVIL } });
  for (let n = 0; n < 51; n += 1) await post('/api/operator/views', { ...aView, name: `view ${n}` }, operator);
  await get('/api/operator/secrets?tenantId=', operator);
  for (const [path, body] of [
    ['secrets', { name: 'crm', value: 'x' }],
    ['secrets/signing', {}],
    ['secrets/crm/delete', {}],
  ] as const) {
    await post(`/api/operator/${path}`, { tenantId: 'nobody', ...body }, operator);
    await post(`/api/operator/${path}`, { tenantId: 'acme', ...body }, { ...operator, origin: EVIL });
  }
  await post('/api/operator/secrets', { tenantId: 'acme', name: 'a b', value: '' }, operator);
  for (const what of ['logins', 'challenges']) {
    await get(`/api/operator/${what}?limit=0`, operator);
    await get(`/api/operator/${what}/nobody`, operator);
  }
  await post('/api/operator/logins/nobody/revoke', {}, operator);
  for (const path of ['keys', 'keys/site/pause', 'keys/site/resume', 'keys/site/revoke', 'logins/x/revoke'])
    await post(`/api/operator/${path}`, newKey, { ...operator, origin: EVIL });
  const lift = { email: 'ann@example.com', reason: 'new laptop' };
  await post('/api/operator/addresses/lift', lift, { ...operator, origin: EVIL });
  for (const path of ['sessions/end', 'search'])
    await post(`/api/operator/${path}`, { filter: {}, q: 'x' }, { ...operator, origin: EVIL });
}

/** Whispers to a session whose page has no data channel, before and during its call. */
async function driveWhispers(): Promise<void> {
  const brokered = await build({ provider: new FakeProvider({ call: 'brokered' }) });
  const id = await brokered.open(await brokered.key({ dataChannel: 'none' }));
  const whisper = (): Promise<Reply> =>
    send(
      {
        method: 'POST',
        path: `/api/operator/sessions/${encodeURIComponent(id)}/whisper`,
        body: { text: 'x' },
        headers: { authorization: `Bearer ${SERVICE_TOKEN}` },
      },
      brokered,
    );
  await whisper();
  const open = { state: 'open', closedAtMs: null, closeReason: null, hangup: 'none', hangupTries: 0 } as const;
  await brokered.service.stores.calls.insert({ ...closedCall(id), id: 'call_2', ...open }, 3);
  vi.spyOn(brokered.service.calls.whispers, 'send').mockResolvedValue('told');
  await whisper();
}

/** Sets secrets on an installation without a key to seal them. */
async function driveUnsealed(): Promise<void> {
  const unsealed = await build();
  Object.assign(unsealed.service.core.secrets, { sealer: undefined });
  const headers = { authorization: `Bearer ${SERVICE_TOKEN}` };
  const set = { tenantId: 'acme', name: 'crm', value: 'x' };
  await send({ method: 'POST', path: '/api/operator/secrets', body: set, headers }, unsealed);
  await send({ method: 'POST', path: '/api/operator/secrets/signing', body: { tenantId: 'acme' }, headers }, unsealed);
}

/** Adds webhooks, tries them, and sends deliveries again. */
async function driveWebhooks(session: string): Promise<void> {
  const operator: Headers = await app.as('ops@example.com');
  const { webhooks } = app.service.stores;
  const add = { tenantId: 'acme', url: 'https://hooks.acme.example/', types: ['session.ended'] };
  const root = '/api/operator/webhooks';
  const callers: Headers[] = [operator, {}, { cookie: await app.login(somebody()) }, { ...operator, origin: EVIL }];
  const span = { from: '2020-01-01T00:00:00Z', to: '2040-01-01T00:00:00Z' };
  const { body: added } = await post(root, add, operator);
  const { id } = added['webhook'] as { readonly id: string };
  const { body: told } = await post(`${root}/${id}/test`, {}, operator);
  const one = `${root}/${id}`;
  for (const headers of callers) {
    for (const path of [
      root,
      one,
      `${one}/deliveries`,
      `${one}/deliveries/${String(told['event'])}`,
      `/api/operator/sessions/${encodeURIComponent(session)}/webhooks`,
    ])
      await get(path, headers);
    await post(root, add, headers);
    await send({ method: 'PATCH', path: one, body: { types: ['call.closed'] }, headers });
    for (const what of ['test', 'rotate', 'disable', 'enable', `deliveries/${String(told['event'])}/replay`])
      await post(`${one}/${what}`, {}, headers);
    await post(`${one}/replay`, { ...span, dryRun: true }, headers);
  }
  await get(`${root}?tenantId=`, operator);
  await get(`${one}/deliveries?limit=0`, operator);
  await post(root, { ...add, tenantId: 'nobody' }, operator);
  await post(root, { ...add, url: 'ftp://x' }, operator);
  await send({ method: 'PATCH', path: one, body: { types: [] }, headers: operator });
  await post(`${one}/replay`, span, operator);
  for (const what of ['', '/deliveries', '/deliveries/evt_1']) await get(`${root}/wh_nobody${what}`, operator);
  for (const what of ['/test', '/rotate', '/disable', '/enable', '/deliveries/evt_1/replay'])
    await post(`${root}/wh_nobody${what}`, {}, operator);
  await send({ method: 'PATCH', path: `${root}/wh_nobody`, body: {}, headers: operator });
  await send({ method: 'DELETE', path: `${root}/wh_nobody`, headers: operator });
  await send({ method: 'DELETE', path: `${root}/wh_nobody?reason=`, headers: operator });
  await post(`${root}/wh_nobody/replay`, { ...span, dryRun: true }, operator);
  const claim = await webhooks.claimOne(id, app.clock.now(), app.clock.now() + 1);
  for (const one of claim?.deliveries ?? [])
    await webhooks.finish(one, {
      state: 'dead',
      attempts: 10,
      nextAtMs: null,
      atMs: 1,
      status: 500,
      code: null,
      ms: 1,
    });
  await post(`${one}/replay`, { ...span, expected: 0 }, operator);
  const counting = vi.spyOn(webhooks, 'countReplay').mockResolvedValueOnce(20_000);
  await post(`${one}/replay`, { ...span, expected: 20_000 }, operator);
  counting.mockRestore();
  for (let n = 0; n < 10; n += 1) await post(root, add, operator);
  Object.assign(app.service.core.secrets, { sealer: undefined });
  await post(`${one}/rotate`, {}, operator);
  // As if the tenants file named it.
  const deleting = vi.spyOn(webhooks, 'delete').mockResolvedValueOnce(false);
  await send({ method: 'DELETE', path: one, headers: operator });
  deleting.mockRestore();
  for (const headers of callers.toReversed()) await send({ method: 'DELETE', path: one, headers });
}

/** What can go wrong on any path: too many requests, bodies that are too large or wrong, and a database that is away. */
async function driveEverywhere(id: string): Promise<void> {
  const paths = operationsOf(document).map(({ method, path, requestBody }) => ({
    fields: objectsOf(requestBody?.content['application/json']?.schema)[0]?.fields ?? [],
    method,
    path: path
      .replace('{id}', path.includes('/logins/') ? 'auth_nobody' : encodeURIComponent(id))
      .replace('{call}', 'call_1')
      .replace('{event}', 'evt_1')
      .replace('{ref}', 'call_1'),
  }));
  const api = paths.filter(({ path }) => /^\/(?:api|v1)\//.test(path));
  const narrow = await build({ env: { RATE_IP_PER_MIN: '1', RATE_PAGE_PER_MIN: '1' } });
  for (const path of ['/api/auth/session', '/nothing']) await narrow.get(path);
  for (const one of paths) await send({ ...one, body: {} }, narrow);
  for (const one of [...api, { method: 'GET', path: '/metrics' }])
    await send({ ...one, body: {}, duplicates: ['origin'] });
  // Operations without a body ignore what is sent as one.
  const isBodiless = (path: string): boolean => /^\/api\/auth\/(?:logout|logins\/.*)$/.test(path);
  for (const one of api.filter(({ method, path }) => ['POST', 'PATCH'].includes(method) && !isBodiless(path))) {
    await send({ ...one, body: 'x'.repeat(70_000) });
    await send({ ...one, body: '{}', headers: { 'content-type': 'text/plain' } });
    await send({ ...one, body: '[]' });
  }
  const stranger = await build();
  const key = await app.key();
  await stranger.service.directory.reload();
  const cookie = await app.login('ops@example.com');
  const operators = {
    filter: { tenantId: 'acme' },
    dryRun: true,
    q: 'sess_x',
    tenantId: 'acme',
    id: 'y',
    origin: 'https://y.example',
    text: 'x',
  };
  const body = {
    widgetKey: key.key,
    sm_session_id: id,
    email: somebody(),
    code: '123456',
    tokens: 1,
    dollars: 0,
    value: 5,
    ...operators,
  };
  app.clock.advance(MINUTE);
  database().isAway = true;
  for (const { fields, ...one } of paths) {
    const known = Object.fromEntries(Object.entries(body).filter(([name]) => fields.includes(name)));
    await send({ ...one, body: known, headers: { cookie } }, stranger);
    await send({ ...one, body: known, headers: { origin: key.origin } }, stranger);
    if (one.path.startsWith('/v1/'))
      await send(
        { ...one, body: known, headers: { origin: key.origin, authorization: `Bearer ${key.key}` } },
        stranger,
      );
  }
}

/** All objects within a JSON schema, itself included, each with the names of its fields. */
function objectsOf(schema: unknown): { readonly isStrict: boolean; readonly fields: readonly string[] }[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { $ref, properties, additionalProperties } = schema as {
    readonly $ref?: string;
    readonly properties?: object;
    readonly additionalProperties?: unknown;
  };
  if ($ref !== undefined) return objectsOf(document.components.schemas[$ref.split('/').at(-1) ?? '']);
  const own = properties && [{ isStrict: additionalProperties === false, fields: Object.keys(properties) }];
  return [...(own ?? []), ...Object.values(schema).flatMap(objectsOf)];
}

describe('The API description', () => {
  test('is valid OpenAPI 3.1', async () => {
    expect(await new Validator().validate({ ...document })).toEqual({ valid: true });
    expect(document.openapi).toMatch(/^3\.1\./);
  });

  test('lists every field of a body that an operator sends, so that none is ignored by mistake', () => {
    const bodies = operationsOf(document)
      .filter(({ method, path }) => method === 'POST' && path.startsWith('/api/operator/'))
      .map(({ path, requestBody }) => ({ path, objects: objectsOf(requestBody?.content['application/json']?.schema) }));
    const lax = bodies.filter(({ objects }) => objects.length === 0 || objects.some(({ isStrict }) => !isStrict));
    expect(bodies.length).toBeGreaterThan(6);
    expect(lax.map(({ path }) => path)).toEqual([]);
  });

  test('describes every endpoint of the specification, each under a name of its own', () => {
    const operations = operationsOf(document);
    const specified = [
      'POST /api/session',
      'POST /api/realtime/heartbeat',
      'POST /api/auth/otp/send',
      'POST /api/auth/otp/verify',
      'GET /api/auth/session',
      'POST /api/auth/usage',
      'POST /api/auth/logout',
    ];
    expect(operations.map(({ method, path }) => `${method} ${path}`)).toEqual(expect.arrayContaining(specified));
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
  });

  test('says that a report over the ceiling was counted, and that a create over it was not', () => {
    const exampleOf = (path: string): unknown =>
      document.paths[path]?.['post']?.responses['429']?.content?.['application/json']?.examples?.[
        'DAILY_QUOTA_EXCEEDED'
      ];
    expect(exampleOf('/api/auth/usage')).toMatchObject({
      value: { counted: true, usage: { tokens: expect.any(Number) } },
    });
    expect(exampleOf('/api/session')).toHaveProperty('value.code', 'DAILY_QUOTA_EXCEEDED');
    expect(exampleOf('/api/session')).not.toHaveProperty('value.counted');
  });

  test('describes what the service answers, including errors, and every reply in it can occur except that of a defect', async () => {
    for (const path of ['/healthz', '/readyz', '/metrics']) {
      await get(path);
      await send({ path, duplicates: ['origin'] });
    }
    await driveSessions();
    await driveVendorPaths();
    await driveRooms();
    await driveRooms();
    for (const path of ['/api/realtime/calls', '/v1/realtime/calls']) await driveCalls(path);
    await driveUsage();
    await driveLogins();
    const id = await app.open(await app.key());
    await driveOperators(id);
    await driveWhispers();
    await driveUnsealed();
    await driveWebhooks(id);
    await driveEverywhere(id);
    expect(conformance.faults).toEqual([]);
    expect(conformance.unseen.filter((reply) => !reply.endsWith(' 500'))).toEqual([]);
  });
});
