import { describe, expect, test, vi } from 'vitest';
import type { CallRecord } from '../../machines/voice-call/types.ts';
import { Unavailable } from '../../src/kernel/errors.ts';
import { service, SERVICE_NAME, STAFF, unique } from '../support/app.ts';
import { NOON, SECOND } from '../support/clock.ts';
import { errorOf } from './app.ts';
import { closedCall } from './calls.ts';
import { app, useApp } from '../support/use-apps.ts';

const { build, database } = useApp({ env: STAFF });

interface Listed {
  readonly id: string;
  readonly state: string;
  readonly endReason: string | null;
}

async function list(query: string): Promise<{ sessions: readonly Listed[]; nextCursor: string | null }> {
  const { status, body } = await app.get(`/api/operator/sessions?${query}`, service);
  expect(status).toBe(200);
  return body as unknown as { sessions: readonly Listed[]; nextCursor: string | null };
}

describe('The operator API', () => {
  test('shows the metadata that a session’s creator set, and null if there is none', async () => {
    const key = await app.key();
    const detail = async (body: object): Promise<unknown> => {
      const id = await app.open(key, body);
      return (await app.get(`/api/operator/sessions/${encodeURIComponent(id)}`, service)).body['metadata'];
    };
    expect(await detail({ metadata: { page: 'pricing', order: '17' } })).toEqual({ page: 'pricing', order: '17' });
    expect(await detail({})).toBeNull();
  });

  test("shows a session's calls, the usage of each, and which id to quote to the provider", async () => {
    const id = await app.open(await app.key());
    const path = `/api/operator/sessions/${encodeURIComponent(id)}`;
    expect((await app.get(path, service)).body['calls']).toEqual([]);
    const { calls, ledger } = app.service.stores;
    const call = closedCall(id);
    const unanswered = { state: 'creating', providerCallId: null, openedAtMs: null, closedAtMs: null } as const;
    const creating: CallRecord = {
      ...call,
      ...unanswered,
      id: 'call_2',
      createdAtMs: NOON + SECOND,
      closeReason: null,
      hangup: 'none',
    };
    for (const one of [call, creating]) expect(await calls.insert(one, 3)).toBe('inserted');
    const tokens = {
      textIn: 1,
      textCached: 2,
      textOut: 3,
      audioIn: 4,
      audioCached: 5,
      audioOut: 6,
      imageIn: 7,
      imageCached: 8,
    };
    const meter = {
      callId: 'call_1',
      basis: 'events',
      tokens,
      microDollars: 9,
      estimatedMicroDollars: 2,
      gapMs: 1600,
    } as const;
    vi.spyOn(ledger, 'metersOf').mockResolvedValue([meter]);
    expect((await app.get(path, service)).body['calls']).toEqual([
      {
        ref: 'call_2',
        provider: 'openai',
        model: 'gpt-realtime',
        state: 'creating',
        providerCallId: null,
        openedAt: null,
        closingAt: null,
        overAt: null,
        closedAt: null,
        closeReason: null,
        hangup: 'none',
        hangupTries: 1,
        basis: null,
        tokens: Object.fromEntries(Object.keys(tokens).map((name) => [name, 0])),
        microDollars: 0,
        estimatedMicroDollars: 0,
        gapSec: 0,
        ownerNode: 'node',
      },
      {
        ref: 'call_1',
        provider: 'openai',
        model: 'gpt-realtime',
        state: 'closed',
        providerCallId: 'rtc_1',
        openedAt: new Date(NOON + SECOND).toISOString(),
        closingAt: null,
        overAt: null,
        closedAt: new Date(NOON + 5 * SECOND).toISOString(),
        closeReason: 'remote',
        hangup: 'already_over',
        hangupTries: 1,
        basis: 'events',
        tokens,
        microDollars: 9,
        estimatedMicroDollars: 2,
        gapSec: 2,
        ownerNode: 'node',
      },
    ]);
  });

  test.each([
    ['an operator', 'ops@example.com', 'rtc_2', 'node'],
    ['a viewer', 'vera@example.com', null, 'node'],
    ['the admin of its tenant', 'boss@globex.example', null, null],
  ])(
    'shows %s a call’s id at the provider and its process, as far as they may see these',
    async (_, email, told, ownerNode) => {
      const id = await app.open(await app.key({ tenantId: 'globex' }));
      const call = { ...closedCall(id), id: unique('call'), tenantId: 'globex', providerCallId: 'rtc_2' };
      await app.service.stores.calls.insert(call, 3);
      await app.post('/api/realtime/end', { sm_session_id: id });
      const path = `/api/operator/sessions/${encodeURIComponent(id.slice(0, 42))}`;
      const { body } = await app.get(path, { cookie: await app.login(email) });
      expect(body['calls']).toMatchObject([{ ref: call.id, providerCallId: told, ownerNode }]);
    },
  );

  test.each([
    ['an operator', 'ops@example.com', 'node'],
    ['the admin of its tenant', 'boss@globex.example', null],
  ])('shows %s processes in the events of a call’s machine, if they may see these', async (_, email, node) => {
    const id = await app.open(await app.key({ tenantId: 'globex' }));
    const call = { ...closedCall(id), id: unique('call'), tenantId: 'globex' };
    await app.service.stores.calls.insert(call, 3);
    const detail = { session: id.slice(0, 42), ownerNode: 'node' };
    await app.service.stores.journal.append([
      {
        id: unique('entry'),
        kind: 'transition',
        atMs: NOON,
        node: 'node',
        requestId: null,
        of: { machine: 'voice-call', target: call.id },
        code: 'READY',
        detail: {
          change: 'moved',
          from: 'creating',
          to: 'open',
          steps: [],
          guards: [],
          version: 2,
          record: detail,
        },
      },
    ]);
    const path = `/api/operator/sessions/${encodeURIComponent(id.slice(0, 42))}/calls/${call.id}`;
    const { body } = await app.get(path, { cookie: await app.login(email) });
    expect(body).toMatchObject({ ownerNode: node, events: [{ node, detail: { ...detail, ownerNode: node } }] });
    await app.post('/api/realtime/end', { sm_session_id: id });
  });

  test('shows what a call’s machine did only to those who may see its session', async () => {
    const id = await app.open(await app.key({ tenantId: 'globex' }));
    const ref = encodeURIComponent(id.slice(0, 42));
    const call = { ...closedCall(id), id: unique('call'), tenantId: 'globex' };
    await app.service.stores.calls.insert(call, 3);
    const as = async (email: string, path: string) => app.get(path, { cookie: await app.login(email) });
    const path = `/api/operator/sessions/${ref}/calls/${call.id}`;
    const found = await as('boss@globex.example', path);
    expect(found).toMatchObject({
      status: 200,
      body: { ref: call.id, providerCallId: null, machine: 'voice-call', events: [], moreEvents: false },
    });
    expect(errorOf(await as('ops@example.com', `/api/operator/sessions/${ref}/calls/call_none`))).toEqual({
      status: 404,
      code: 'NOT_FOUND',
    });
    const other = encodeURIComponent((await app.open(await app.key())).slice(0, 42));
    expect((await as('ops@example.com', `/api/operator/sessions/${other}/calls/${call.id}`)).status).toBe(404);
    expect(errorOf(await as('boss@globex.example', `/api/operator/sessions/${other}/calls/${call.id}`))).toEqual({
      status: 404,
      code: 'SESSION_NOT_FOUND',
    });
    await app.post('/api/realtime/end', { sm_session_id: id });
  });

  test('logs no whole session id, even if an operator mistypes the path of one', async () => {
    const id = await app.open(await app.key());
    for (const path of [`/api/operator/session/${id}`, `/api/operator/sessions/${encodeURIComponent(id)}/ends`])
      expect((await app.get(path, service)).status).toBe(404);
    await app.post(`/api/operator/sessions/${id}/end`, {}, service);
    expect(app.logged()).toContain(id.slice(0, 42));
    expect(app.logged()).not.toContain(id.slice(-15));
  });

  test('shows the state and record of a session', async () => {
    const id = await app.open(await app.key(), { agentId: 'support' });
    app.clock.advance(301 * SECOND);
    await app.sweep();
    const { body } = await app.get(`/api/operator/sessions/${encodeURIComponent(id)}`, service);
    expect(body).toMatchObject({
      id,
      state: 'idle',
      caller: 'widget',
      tenantId: 'acme',
      agentId: 'support',
      endedAt: null,
      nextDeadline: new Date(NOON + 3601 * SECOND).toISOString(),
      session: { active: true, idleSec: 301 },
    });
    expect((await list('state=idle&limit=200')).sessions.map((one) => one.id)).toContain(id);
  });

  test('counts the sessions by state, caller and tenant', async () => {
    const before = (await app.get('/api/operator/overview', service)).body as { byState: Record<string, number> };
    const id = await app.open(await app.key());
    await app.post('/api/realtime/end', { sm_session_id: id });
    await app.open(await app.key({ tenantId: 'globex' }));
    app.clock.advance(2 * SECOND);
    const { body } = await app.get('/api/operator/overview', service);
    expect(body).toMatchObject({
      byState: { engaged: (before.byState['engaged'] ?? 0) + 1, ended: (before.byState['ended'] ?? 0) + 1 },
      byTenant: { globex: 1 },
    });
  });

  test('shows which operator ended a session, when, why and with which request, and nothing for other ends', async () => {
    const key = await app.key();
    const [one, other] = [await app.open(key), await app.open(key)];
    const endedBy = async (id: string) =>
      (await app.get(`/api/operator/sessions/${encodeURIComponent(id)}`, service)).body['endedBy'];
    expect(await endedBy(one)).toBeNull();
    app.clock.advance(SECOND);
    const headers = await app.as('ops@example.com');
    const path = `/api/operator/sessions/${encodeURIComponent(one)}/end`;
    const ended = await app.post(path, { reason: 'abuse' }, headers);
    const at = new Date(NOON + SECOND).toISOString();
    const told = { actor: 'ops@example.com', reason: 'abuse', at, requestId: ended.headers['x-request-id'] };
    expect(await endedBy(one)).toEqual(told);
    // The session had already ended: the audit has this second attempt, but it ended nothing.
    app.clock.advance(SECOND);
    await app.post(path, { reason: 'again' }, service);
    expect(await endedBy(one)).toEqual(told);
    await app.post('/api/realtime/end', { sm_session_id: other });
    await app.post(`/api/operator/sessions/${encodeURIComponent(other)}/end`, {}, service);
    expect(await endedBy(other)).toBeNull();
  });

  test('finds and ends a session by the short id that the log prints', async () => {
    const id = await app.open(await app.key());
    const [, ref = ''] = /"event":"session.opened","session":"([^"]+)"/.exec(app.logged()) ?? [];
    expect([ref.length, id.startsWith(ref)]).toEqual([42, true]);
    const path = `/api/operator/sessions/${encodeURIComponent(ref)}`;
    expect((await app.get(path, service)).body).toMatchObject({ id, ref });
    for (const q of [ref, id]) expect((await list(`q=${encodeURIComponent(q)}`)).sessions).toMatchObject([{ id, ref }]);
    expect((await list(`q=${encodeURIComponent(ref)}&state=idle`)).sessions).toEqual([]);
    expect((await app.post(`${path}/end`, {}, service)).body).toMatchObject({ session: { active: false } });
    expect(await app.sessions.find(id)).toMatchObject({ endReason: 'closed_by_operator' });
    expect((await app.get(path, service)).body).toMatchObject({ id, endedBy: { actor: SERVICE_NAME } });
  });

  test('ends nothing for a short id that matches several sessions, and lists them', async () => {
    const id = await app.open(await app.key());
    const record = await app.sessions.find(id);
    if (record === undefined) throw new Error('opened just now');
    const ref = id.slice(0, 42);
    const twin = `${ref}${'-'.repeat(15)}`;
    await app.service.stores.history.insert({ record: { ...record, id: twin }, state: 'engaged' });
    const path = `/api/operator/sessions/${encodeURIComponent(ref)}`;
    for (const reply of [await app.get(path, service), await app.post(`${path}/end`, {}, service)])
      expect(errorOf(reply)).toEqual({ status: 409, code: 'AMBIGUOUS' });
    const fitting = (await list(`q=${encodeURIComponent(ref)}`)).sessions.map((one) => one.id);
    expect(fitting.toSorted()).toEqual([id, twin].toSorted());
    expect(await app.sessions.find(id)).toMatchObject({ endedAtMs: null });
    expect((await app.get(`/api/operator/sessions/${encodeURIComponent(id)}`, service)).status).toBe(200);
  });

  test.each(['', '0', '00000000000000'])(
    'finds no session by part of a short id, or by an unknown one (%j)',
    async (tail) => {
      const id = await app.open(await app.key());
      const part = tail === '' ? id.slice(0, 41) : `s:${'0'.repeat(32)}:${tail}`;
      const path = `/api/operator/sessions/${encodeURIComponent(part)}`;
      for (const reply of [await app.get(path, service), await app.post(`${path}/end`, {}, service)])
        expect(errorOf(reply)).toEqual({ status: 404, code: 'SESSION_NOT_FOUND' });
    },
  );

  test('ends a session even for a request without a body, as curl -X POST sends it', async () => {
    const id = await app.open(await app.key());
    const path = `/api/operator/sessions/${encodeURIComponent(id)}/end`;
    const bare = { method: 'POST', path, headers: { ...service, 'content-type': '' } };
    expect(errorOf(await app.send({ ...bare, body: '{' }))).toMatchObject({ status: 415 });
    expect(await app.sessions.find(id)).toMatchObject({ endedAtMs: null });
    expect(await app.send(bare)).toMatchObject({ status: 200, body: { ok: true, session: { active: false } } });
    expect(await app.send({ ...bare, headers: { ...service, 'content-type': 'text/plain' } })).toMatchObject({
      status: 200,
    });
  });

  // A session ends in memory first, so an unchanged row proves nothing while the database is away.
  test('ends nothing while the audit cannot record who did it', async () => {
    const id = await app.open(await app.key());
    const path = `/api/operator/sessions/${encodeURIComponent(id)}/end`;
    database().isAway = true;
    expect(errorOf(await app.post(path, {}, service))).toEqual({ status: 503, code: 'SERVICE_UNAVAILABLE' });
    expect(await app.sessions.find(id)).toMatchObject({ endedAtMs: null });
    database().isAway = false;
    expect((await app.post(path, {}, service)).status).toBe(200);
  });
});

describe('Health', () => {
  test('says that the process is up, whatever is away', async () => {
    database().isAway = true;
    expect(await app.get('/healthz')).toMatchObject({ status: 200, body: { ok: true } });
  });

  test('says of each dependency whether it answers', async () => {
    const ready = await app.get('/readyz');
    expect(ready).toMatchObject({
      status: 200,
      body: { ready: true, dependencies: { database: { ok: true }, registry: { ok: true } } },
    });
    database().isAway = true;
    expect(await app.get('/readyz')).toMatchObject({
      status: 503,
      body: { ready: false, dependencies: { database: { ok: false } } },
    });
  });

  test('asks each dependency once, however many ask at the same time', async () => {
    const askedBefore = database().asked;
    const replies = await Promise.all(Array.from({ length: 50 }, () => app.get('/readyz')));
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
    expect(database().asked - askedBefore).toBe(1);
    await app.get('/readyz');
    expect(database().asked - askedBefore).toBe(2);
  });

  test('has metrics of the routes’ replies, the refusals and the sessions', async () => {
    const id = await app.open(await app.key());
    await app.post('/api/realtime/end', { sm_session_id: id });
    await app.get('/api/nothing');
    const { text, headers } = await app.get('/metrics', service);
    expect(headers['content-type']).toContain('text/plain');
    expect(text).toContain('switchboard_sessions_started_total{caller="widget",tenant="acme"} 1');
    expect(text).toContain('switchboard_sessions_ended_total{reason="closed_by_client"} 1');
    expect(text).toContain('switchboard_refusals_total{code="NOT_FOUND"} 1');
    expect(text).toContain('switchboard_http_replies_total{route="/api/session",status="200"} 1');
    expect(text).toContain('switchboard_sessions_held 1');
  });

  test('has the other metrics while the registry is away', async () => {
    const registry = { ...app.live.registry, size: () => Promise.reject(new Unavailable('registry')) };
    const half = await build({ live: { ...app.live, registry } });
    const { status, text } = await half.get('/metrics', service);
    expect(status).toBe(200);
    expect(text).toContain('switchboard_sockets_attached 0');
    expect(text).not.toMatch(/^switchboard_sessions_held \d/m);
  });

  test('shows metrics and timings to everybody with DEBUG_METRICS', async () => {
    const open = await build({ env: { DEBUG_METRICS: 'true' } });
    const { status, headers } = await open.get('/metrics');
    expect([status, headers['server-timing']?.startsWith('total;dur=')]).toEqual([200, true]);
  });
});
