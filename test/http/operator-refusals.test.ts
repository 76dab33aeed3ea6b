import { describe, expect, test } from 'vitest';
import type { WidgetKey } from '../../src/stores/tenants/contract.ts';
import { service, somebody, STAFF, unique, type Reply } from '../support/app.ts';
import { MINUTE, SECOND } from '../support/clock.ts';
import { app, useApp } from '../support/use-apps.ts';
import { errorOf } from './app.ts';

const PATH = '/api/operator/refusals';

interface Told {
  readonly requestId: string;
  readonly code: string;
  readonly keyId: string | null;
  readonly sentence: string;
}

const { build, database } = useApp({ env: STAFF });

const idOf = ({ headers }: Reply): string => String(headers['x-request-id']);

async function find(requestId: string, headers: Readonly<Record<string, string>> = service): Promise<Reply> {
  return app.get(`${PATH}?requestId=${requestId}`, headers);
}

async function refusalOf(reply: Reply): Promise<Record<string, unknown>> {
  const { body } = await find(idOf(reply));
  expect(body['found']).toBe('exact');
  return body['refusal'] as Record<string, unknown>;
}

async function page(query: string, headers: Readonly<Record<string, string>> = service): Promise<readonly Told[]> {
  const { status, body } = await app.get(`${PATH}?${query}`, headers);
  expect(status).toBe(200);
  return body['refusals'] as readonly Told[];
}

const foreign = (key: WidgetKey): Promise<Reply> => app.create(key, {}, { origin: 'https://evil.example' });

describe('A refusal', () => {
  test('is found by its request id, with the numbers, the deciding setting and a sentence, none of which its caller is told', async () => {
    const key = await app.key({ limits: { sessionsPerMinute: 1 } });
    await app.create(key);
    const refused = await app.create(key);
    expect(refused.status).toBe(429);
    expect(Object.keys(refused.body).sort()).toEqual(['code', 'error', 'retryAfter', 'userMessage']);
    expect(await refusalOf(refused)).toEqual({
      requestId: idOf(refused),
      at: new Date(app.clock.now()).toISOString(),
      code: 'RATE_LIMIT_EXCEEDED',
      status: 429,
      layer: 'minute',
      route: '/api/session',
      tenantId: 'acme',
      keyId: key.id,
      subject: expect.stringMatching(/^[0-9a-f]{32}$/),
      origin: key.origin,
      addressHash: expect.stringMatching(/^[0-9a-f]{16}$/),
      network: '198.51.100.0/24',
      limit: 1,
      count: 1,
      retryAfter: expect.any(Number),
      verdict: null,
      lever: 'limits.sessionsPerMinute',
      sentence: expect.stringMatching(
        /^More than 1 session in one minute \(limits\.sessionsPerMinute\); .* wait \d+ s\.$/,
      ),
      node: expect.any(String),
    });
  });

  test('is stored for every node, without what was sent', async () => {
    const email = somebody();
    const refused = await app.post('/api/realtime/heartbeat', { sm_session_id: `s:${email}`, email });
    await app.service.journalWriter.flush();
    const other = await build();
    const { body } = await other.get(`${PATH}?requestId=${idOf(refused)}`, service);
    expect(body).toMatchObject({ found: 'exact', refusal: { code: 'SESSION_NOT_FOUND', layer: 'proof' } });
    expect(JSON.stringify(body)).not.toContain(email);
    expect(JSON.stringify(body)).not.toContain('198.51.100.7');
  });

  const reasons: [string, () => Promise<Reply>, object][] = [
    [
      'a foreign origin',
      async () => foreign(await app.key()),
      { layer: 'origin', lever: 'origin', origin: 'https://evil.example' },
    ],
    [
      'a revoked key',
      async () => app.create(await app.key({ revokedAtMs: 1 })),
      { layer: 'key', sentence: expect.stringContaining('the key is revoked') },
    ],
    [
      'a slot that is taken',
      async () => {
        const key = await app.key({ totals: { concurrentSessions: 1 } });
        await app.open(key, { email: somebody() });
        return app.create(key, { email: somebody() });
      },
      { layer: 'slot', limit: 1, count: 1, lever: 'totals.concurrentSessions' },
    ],
    [
      'a ceiling that is reached',
      async () => {
        const key = await app.key({ limits: { dailyTokens: 5 } });
        const [email, proof] = [somebody(), { tokens: 7, dollars: 0 }];
        const sm_session_id = await app.open(key, { email });
        await app.post('/api/auth/usage', { ...proof, email, sm_session_id }, { origin: key.origin });
        return app.create(key, { email });
      },
      { layer: 'quota', limit: 5, count: 7, lever: 'limits.dailyTokens', tenantId: 'acme' },
    ],
    [
      'an agent that the key does not allow',
      async () => app.create(await app.key({ agents: ['support'] }), { agentId: 'sales' }),
      { layer: 'agent', lever: 'agents', sentence: expect.stringContaining('support') },
    ],
    ['a path that is not there', () => app.get('/api/nothing'), { layer: 'edge', route: 'none', tenantId: null }],
    ['a body that is no JSON', () => app.post('/api/session', '{'), { layer: 'body' }],
    [
      'a session that has ended',
      async () => {
        const sm_session_id = await app.open(await app.key());
        await app.sessions.end(sm_session_id, 'closed_by_client', app.clock.now());
        return app.post('/api/realtime/heartbeat', { sm_session_id });
      },
      { layer: 'machine', tenantId: 'acme', sentence: 'The session had ended before: closed_by_client.' },
    ],
    ['an operator who is none', () => app.get('/api/operator/nodes'), { layer: 'login', code: 'AUTH_REQUIRED' }],
  ];

  test.each(reasons)('for %s says so', async (_reason, refuse, told) => {
    expect(await refusalOf(await refuse())).toMatchObject(told);
  });

  test('for too many requests of an address names the variable', async () => {
    const narrow = await build({ env: { RATE_IP_PER_MIN: '1' } });
    await narrow.get('/api/auth/session');
    const refused = await narrow.get('/api/auth/session');
    const { body } = await narrow.get(`${PATH}?requestId=${idOf(refused)}`, service);
    expect(body['refusal']).toMatchObject({ layer: 'edge', limit: 1, lever: 'RATE_IP_PER_MIN' });
  });

  test('of a tenant is shown only to those who may see the tenant', async () => {
    const refused = await foreign(await app.key({ tenantId: 'globex' }));
    const boss = await app.as('boss@globex.example');
    expect((await find(idOf(refused), boss)).body).toMatchObject({ found: 'exact' });
    const stranger = await foreign(await app.key());
    for (const id of [idOf(stranger), idOf(await app.get('/api/nothing'))])
      expect(errorOf(await find(id, boss))).toEqual({ status: 404, code: 'NOT_FOUND' });
    await app.service.journalWriter.flush();
    const listed = await page('limit=200', boss);
    expect(listed.map(({ requestId }) => requestId)).toContain(idOf(refused));
    expect(listed.map(({ requestId }) => requestId)).not.toContain(idOf(stranger));
    expect(await page('tenantId=acme', boss)).toEqual([]);
    expect((await app.get(`${PATH}?tenantId=acme`, boss)).body).toMatchObject({ counted: {}, kept: {} });
  });
});

describe('Refusals in a flood', () => {
  test('are all counted, and the first of each second are stored', async () => {
    const key = await app.key({ id: unique('flooded') });
    for (let n = 0; n < 60; n += 1) await foreign(key);
    await app.service.journalWriter.flush();
    await app.service.activityWriter.flush();
    const { body } = await app.get(`${PATH}?tenantId=acme&keyId=${key.id}&limit=200`, service);
    const { refusals, counted, kept, isPartial } = body as unknown as {
      refusals: readonly Told[];
      counted: Record<string, number>;
      kept: Record<string, number>;
      isPartial: boolean;
    };
    expect(counted).toEqual({ ORIGIN_MISMATCH: 60 });
    // A new second may have begun meanwhile, which keeps more; every refusal that was kept is in the log too.
    expect(refusals).toHaveLength(kept['ORIGIN_MISMATCH'] ?? 0);
    expect(refusals.length).toBeGreaterThanOrEqual(50);
    expect(app.logged().split(`"refusal":"ORIGIN_MISMATCH"`).length - 1).toBeGreaterThanOrEqual(refusals.length);
    expect(isPartial).toBe(false);
  });

  test('are counted by the hour, and by the minute if the span is short and recent', async () => {
    const key = await app.key({ id: unique('counted') });
    const hour = 60 * MINUTE;
    app.clock.advance(hour);
    const begin = app.clock.now();
    await foreign(key);
    await app.service.activityWriter.flush();
    app.clock.advance(2 * hour);
    for (let n = 0; n < 2; n += 1) await foreign(key);
    await app.service.activityWriter.flush();
    const told = async (query: string) => (await app.get(`${PATH}?keyId=${key.id}&limit=1${query}`, service)).body;
    const at = (ms: number) => new Date(ms).toISOString();
    expect(await told('')).toMatchObject({
      seriesBy: 'hour',
      isCounted: true,
      series: [
        { at: at(begin - (begin % hour)), count: 1 },
        { at: at(begin - (begin % hour) + 2 * hour), count: 2 },
      ],
    });
    const now = app.clock.now();
    expect(await told(`&from=${at(now - hour)}`)).toMatchObject({
      seriesBy: 'minute',
      series: [{ at: at(now - (now % MINUTE)), count: 2 }],
    });
    expect(await told('&code=NOT_FOUND')).toMatchObject({ series: [], counted: {} });
  });

  test('that were not stored are known by their minute, to those who may see everything', async () => {
    const from = app.clock.now();
    await app.service.presence.write();
    app.clock.advance(10 * SECOND);
    const unkept = await app.get('/healthz');
    expect(unkept.status).toBe(200);
    await foreign(await app.key());
    await app.service.activityWriter.flush();
    await app.service.presence.write();
    const to = app.clock.now();
    app.clock.advance(MINUTE);
    const { body } = await find(idOf(unkept));
    expect(body).toMatchObject({
      found: 'minute',
      node: expect.any(String),
      byCode: { ORIGIN_MISMATCH: expect.any(Number) },
    });
    expect(Date.parse(String(body['from']))).toBeLessThanOrEqual(from);
    expect(Date.parse(String(body['to']))).toBe(to);
    const boss = await app.as('boss@globex.example');
    expect(errorOf(await find(idOf(unkept), boss)).code).toBe('NOT_FOUND');
  });

  test.each(['req_', 'req_nobodyyy1', 'nonsense', 'req_%00'])('that are unknown are not found: %s', async (id) => {
    expect((await find(id)).status).toBe(id === 'req_%00' ? 400 : 404);
  });
});

describe('The list of refusals', () => {
  test('is read page by page, newest first, and can be filtered', async () => {
    const key = await app.key({ id: unique('listed') });
    const made: string[] = [];
    for (let n = 0; n < 5; n += 1) {
      made.push(idOf(await foreign(key)));
      app.clock.advance(SECOND);
    }
    await app.service.journalWriter.flush();
    const seen: string[] = [];
    let cursor = '';
    do {
      const path = `${PATH}?tenantId=acme&keyId=${key.id}&limit=2${cursor}`;
      const { body } = await app.get(path, service);
      seen.push(...(body['refusals'] as readonly Told[]).map(({ requestId }) => requestId));
      const next = body['nextCursor'] as string | null;
      cursor = next === null ? '' : `&cursor=${next}`;
    } while (cursor !== '');
    expect(seen).toEqual([...made].reverse());
    expect(await page(`keyId=${key.id}&code=NOT_FOUND`)).toEqual([]);
    expect(await page(`keyId=${key.id}&network=198.51.100.0/24`)).toHaveLength(5);
    const to = new Date(app.clock.now() - 3 * SECOND).toISOString();
    expect(await page(`keyId=${key.id}&to=${to}`)).toHaveLength(3);
  });

  test('shows what this process remembers while the database is away, and says so', async () => {
    const key = await app.key({ id: unique('away') });
    const refused = await foreign(key);
    database().isAway = true;
    expect((await find(idOf(refused))).body).toMatchObject({ found: 'exact', refusal: { keyId: key.id } });
    const { body } = await app.get(`${PATH}?keyId=${key.id}`, service);
    expect(body).toMatchObject({ isPartial: true, nextCursor: null, refusals: [{ requestId: idOf(refused) }] });
    expect(errorOf(await find('req_nobodyyy1'))).toEqual({ status: 503, code: 'SERVICE_UNAVAILABLE' });
  });
});

describe('The detail of a session', () => {
  test('shows what its subject was refused during its life, and a minute longer', async () => {
    const key = await app.key({ limits: { concurrentSessions: 1 } });
    const email = somebody();
    const opened = await app.create(key, { email });
    const id = String(opened.body['sm_session_id']);
    app.clock.advance(SECOND);
    const refused = await app.create(key, { email });
    expect(refused.status).toBe(429);
    expect((await app.create(key, { email: somebody() })).status).toBe(200);
    expect((await app.post('/api/realtime/end', { sm_session_id: id, email })).status).toBe(200);
    app.clock.advance(2 * MINUTE);
    const again = await app.create(key, { email });
    app.clock.advance(SECOND);
    expect((await app.create(key, { email })).status).toBe(429);
    await app.service.journalWriter.flush();
    const detail = async (name: string, headers = service): Promise<Reply> =>
      app.get(`/api/operator/sessions/${encodeURIComponent(name)}`, headers);
    expect((await detail(id)).body['refusals']).toMatchObject([
      { requestId: idOf(refused), sentence: expect.any(String) },
    ]);
    expect((await detail(String(again.body['sm_session_id']))).body['refusals']).toHaveLength(1);
  });
});
