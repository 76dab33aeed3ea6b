import { describe, expect, test, vi } from 'vitest';
import { Unavailable } from '../../src/kernel/errors.ts';
import { service, SERVICE_NAME, STAFF, unique, type Reply } from '../support/app.ts';
import { NOON, SECOND } from '../support/clock.ts';
import { app, useApp } from '../support/use-apps.ts';

const { database } = useApp({ env: STAFF });

const pathOf = (id: string): string => `/api/operator/sessions/${encodeURIComponent(id)}`;
const audit = (query: string, headers: Record<string, string> = service): Promise<Reply> =>
  app.get(`/api/operator/audit?${query}`, headers);

describe('The audit tells operators', () => {
  test('who did what, in which role, why, with which request, and the result', async () => {
    const id = await app.open(await app.key());
    const ops = await app.as('ops@example.com');
    const first = await app.post(`${pathOf(id)}/end`, { reason: 'abuse' }, ops);
    expect(first.body).toMatchObject({ ok: true, alreadyEnded: false });
    app.clock.advance(SECOND);
    expect((await app.post(`${pathOf(id)}/end`, {}, service)).body).toMatchObject({ ok: true, alreadyEnded: true });
    const target = id.slice(0, 42);
    const { status, body, headers } = await audit(`target=${encodeURIComponent(target)}`);
    expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
    const about = { action: 'session.end', target, tenantId: 'acme', batchId: null, count: null };
    expect(body).toEqual({
      rows: [
        {
          ...about,
          at: new Date(NOON + SECOND).toISOString(),
          actor: SERVICE_NAME,
          actorRef: expect.stringMatching(/^[0-9a-f]{32}$/),
          role: 'service',
          reason: null,
          requestId: expect.stringMatching(/^req_/),
          result: 'unchanged',
        },
        {
          ...about,
          at: new Date(NOON).toISOString(),
          actor: 'ops@example.com',
          actorRef: expect.stringMatching(/^[0-9a-f]{32}$/),
          role: 'operator',
          reason: 'abuse',
          requestId: first.headers['x-request-id'],
          result: 'done',
        },
      ],
      nextCursor: null,
      asOf: new Date(NOON + SECOND).toISOString(),
      searchedTo: null,
    });
    const ofSession = (await app.get(pathOf(id), service)).body['audit'] as readonly object[];
    expect(body['rows']).toEqual(ofSession.map((row) => expect.objectContaining(row)));
    expect(ofSession).toHaveLength(2);
  });

  test('that an operator did not end a session that was due to end by the clock', async () => {
    const id = await app.open(await app.key());
    app.clock.advance(8000 * SECOND);
    expect((await app.post(`${pathOf(id)}/end`, {}, service)).body).toMatchObject({ alreadyEnded: true });
    expect((await app.get(pathOf(id), service)).body).toMatchObject({
      endReason: 'abandoned',
      endedBy: null,
      audit: [{ result: 'unchanged' }],
    });
  });

  test('rows by actor, action and time, page by page, and none for an unknown action', async () => {
    const ops = await app.as('ops@example.com');
    const key = await app.key();
    const targets: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      const id = await app.open(key);
      targets.unshift(id.slice(0, 42));
      app.clock.advance(SECOND);
      await app.post(`${pathOf(id)}/end`, {}, ops);
    }
    const from = new Date(NOON + SECOND).toISOString();
    const query = `actor=ops@example.com&action=session.end&from=${from}`;
    const first = (await audit(`${query}&limit=2`)).body as { rows: { target: string }[]; nextCursor: string };
    const next = (await audit(`${query}&limit=2&cursor=${first.nextCursor}`)).body as typeof first;
    expect([...first.rows, ...next.rows].map(({ target }) => target)).toEqual(targets);
    expect(next.nextCursor).toBeNull();
    expect((await audit(`${query}&to=${from}`)).body['rows']).toEqual([]);
    expect((await audit('action=session.look')).body['rows']).toEqual([]);
  });

  test('everything that one operator did, without the address in the URL, if they may see the address', async () => {
    app.clock.advance(30_000 * SECOND);
    const from = new Date(app.clock.now()).toISOString();
    const [ops, vera] = [await app.as('ops@example.com'), await app.as('vera@example.com')];
    const id = await app.open(await app.key());
    await app.post(`${pathOf(id)}/end`, {}, ops);
    await app.post(`${pathOf(id)}/end`, {}, service);
    const read = async (query: string, headers = ops) =>
      (await audit(`from=${from}${query}`, headers)).body['rows'] as { actor: string; actorRef: string | null }[];
    const refs = new Map((await read('')).map(({ actor, actorRef }) => [actor, actorRef]));
    expect(refs.size).toBe(2);
    for (const [actor, ref] of refs) {
      expect(new Set((await read(`&actorRef=${ref}`)).map((row) => row.actor))).toEqual(new Set([actor]));
      expect(await read(`&actorRef=${ref}&actor=somebody@example.com`)).toEqual([]);
    }
    expect(await read(`&actorRef=${'0'.repeat(32)}`)).toEqual([]);
    const seen = (await read('', vera)).find(({ actor }) => actor.includes('@'));
    expect(seen).toMatchObject({ actor: 'o…@example.com', actorRef: null });
    expect(await read(`&actorRef=${refs.get('ops@example.com')}`, vera)).toEqual([]);
  });

  test('nothing for an address that they see masked, so that nobody can try addresses', async () => {
    const [ops, boss] = [await app.as('ops@example.com'), await app.as('boss@globex.example')];
    for (const headers of [ops, boss]) {
      const id = await app.open(await app.key({ tenantId: 'globex' }));
      expect((await app.post(`${pathOf(id)}/end`, {}, headers)).status).toBe(200);
    }
    const actorsSeenBy = async (email: string, actor: string) => {
      const { rows } = (await audit(`actor=${actor}`, await app.as(email))).body as { rows: { actor: string }[] };
      return [...new Set(rows.map((row) => row.actor))];
    };
    expect(await actorsSeenBy('ops@example.com', 'ops@example.com')).toEqual(['ops@example.com']);
    for (const email of ['vera@example.com', 'boss@globex.example'])
      expect(await actorsSeenBy(email, 'ops@example.com')).toEqual([]);
    expect(await actorsSeenBy('boss@globex.example', 'boss@globex.example')).toEqual(['boss@globex.example']);
    expect(await actorsSeenBy('vera@example.com', SERVICE_NAME)).toEqual([SERVICE_NAME]);
  });

  test('that a change failed if the database went away during it', async () => {
    const id = await app.open(await app.key());
    // Finding the session by its id asks the database nothing: writing the row is the first question, and the only one answered.
    database().answersLeft = 1;
    const reply = await app.post(`${pathOf(id)}/end`, {}, service);
    database().answersLeft = Infinity;
    database().isAway = false;
    const { rows } = (await audit(`target=${encodeURIComponent(id.slice(0, 42))}`)).body as {
      rows: { result: unknown }[];
    };
    expect([reply.status, rows.map(({ result }) => result)]).toEqual([503, [null]]);
  });
});

interface LoggedAct {
  readonly event: string;
  readonly actor: string;
  readonly action: string;
  readonly target: string;
  readonly requestId: string;
}

describe('The log tells of each act of an operator, once', () => {
  const actsIn = (text: string): LoggedAct[] =>
    text
      .split('\n')
      .filter((line) => line.includes('operator.acted'))
      .map((line) => JSON.parse(line) as LoggedAct);
  const headOf = ({ actor, action, target }: LoggedAct) => [actor, action, target];

  test('on keys, sessions, many sessions, logins and addresses alike', async () => {
    const key = await app.key();
    const sessionId = await app.open(key);
    await app.post(`${pathOf(sessionId)}/end`, {}, service);
    const of = { tenantId: 'acme' };
    await app.post(`/api/operator/keys/${key.id}/pause`, of, service);
    await app.post(`/api/operator/keys/${key.id}/resume`, of, service);
    await app.post(`/api/operator/keys/${key.id}/revoke`, { ...of, dryRun: true }, service);
    const { headers } = await app.post(`/api/operator/keys/${key.id}/revoke`, of, service);
    await app.post('/api/operator/search', { q: 'nobody@example.com' }, service);
    const filter = { agentId: unique('nobodys') };
    const { body } = await app.post('/api/operator/sessions/end', { filter, expected: 0, reason: 'all' }, service);
    const logged = actsIn(app.logged());
    expect(logged.map(headOf)).toEqual([
      ['service', 'session.end', sessionId.slice(0, 42)],
      ['service', 'key.pause', `acme/${key.id}`],
      ['service', 'key.resume', `acme/${key.id}`],
      ['service', 'key.revoke', `acme/${key.id}`],
      ['service', 'search.address', expect.stringMatching(/^[0-9a-f]{32}$/)],
      ['service', 'sessions.end', body['batchId']],
    ]);
    expect(logged[3]?.requestId).toBe(headers['x-request-id']);
  });

  test('even if a key may or may not be revoked because the database went away during it', async () => {
    const { id } = await app.key();
    const { stores } = app.service;
    const revoking = vi.spyOn(stores.tenants, 'revoke').mockRejectedValueOnce(new Unavailable('database'));
    const reply = await app.post(`/api/operator/keys/${id}/revoke`, { tenantId: 'acme' }, service);
    revoking.mockRestore();
    expect(reply.status).toBe(503);
    expect(actsIn(app.logged()).map(headOf)).toEqual([['service', 'key.revoke', `acme/${id}`]]);
  });
});
