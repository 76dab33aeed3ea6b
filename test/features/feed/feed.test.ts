import { beforeEach, describe, expect, test, vi } from 'vitest';
import { Unavailable } from '../../../src/kernel/errors.ts';
import { readBusMessage } from '../../../src/protocol/bus.ts';
import type { LiveStores } from '../../../src/stores/contract.ts';
import { CONSOLE, SERVICE_NAME, SERVICE_TOKEN, somebody, STAFF, type TestApp } from '../../support/app.ts';
import { ManualClock, NOON, SECOND } from '../../support/clock.ts';
import { useApps } from '../../support/use-apps.ts';
import { credentialsOf, tickOf, watch, Watching } from './watching.ts';

const { build } = useApps();

/** The admin of the tenant globex. */
const BOSS = 'boss@globex.example';

let clock: ManualClock;
let app: TestApp;
beforeEach(async () => {
  clock = new ManualClock();
  app = await build({ env: STAFF, clock });
});

/** Makes the nodes' feeds send what they have gathered. */
const tick = (...nodes: readonly TestApp[]): Promise<void> => tickOf(clock, ...nodes);

describe('The feed of operators', () => {
  test.each([
    ['an operator', 'ops@example.com', 'operator'],
    ['a viewer', 'vera@example.com', 'viewer'],
    ['the admin of a tenant', BOSS, 'tenant_admin'],
  ])('says hello to %s, with the role', async (_, email, role) => {
    const watching = new Watching(app, await credentialsOf(app, email));
    await expect.poll(() => watching.heard()).toMatchObject([{ type: 'hello', seq: 0, role, lossy: false }]);
  });

  test.each([
    ['without a login', 4401, async () => ({ service: null, token: null })],
    ['with a token that is none', 4401, async () => ({ service: null, token: 'forged' })],
    ['whose login has no role', 4403, () => credentialsOf(app, somebody())],
  ])('closes a socket %s, without having told it anything', async (_, code, credentials) => {
    const watching = new Watching(app, await credentials());
    await app.open(await app.key());
    await tick(app);
    expect(await watching.closeCode()).toBe(code);
    expect(watching.heard()).toEqual([]);
    expect(app.service.feed.size).toBe(0);
  });

  test('reports changes of sessions a few times a second: the last of each, with the state before', async () => {
    const watching = await watch(app, 'ops@example.com');
    const id = await app.open(await app.key());
    const other = await app.open(await app.key({ tenantId: 'globex' }));
    await app.post('/api/realtime/end', { sm_session_id: other });
    expect(watching.heard()).toEqual([]);
    await tick(app);
    const at = new Date(NOON).toISOString();
    const told = { was: null, at, agentId: null, keyId: expect.any(String), caller: 'widget' };
    expect(watching.heard()).toEqual([
      {
        type: 'sessions',
        seq: 1,
        changes: [
          {
            ...told,
            ref: id.slice(0, 42),
            tenantId: 'acme',
            state: 'engaged',
            reason: null,
            deadline: expect.stringMatching(/Z$/),
            next: { at: expect.stringMatching(/Z$/), to: 'idle', reason: null },
          },
          {
            ...told,
            ref: other.slice(0, 42),
            tenantId: 'globex',
            state: 'ended',
            reason: 'closed_by_client',
            deadline: null,
            next: null,
          },
        ],
        more: 0,
      },
    ]);
    await tick(app);
    expect(watching.heard()).toEqual([]);
  });

  test('tells a tenant’s admin nothing about others, whatever the filter', async () => {
    const watching = await watch(app, BOSS);
    const acmes = await app.open(await app.key());
    const globexs = await app.open(await app.key({ tenantId: 'globex' }));
    await tick(app);
    expect(watching.heard()).toMatchObject([{ changes: [{ ref: globexs.slice(0, 42) }], more: 0 }]);
    watching.say({ type: 'watch', topics: ['sessions'], filter: { tenantId: 'acme' }, ref: acmes });
    await app.post('/api/realtime/end', { sm_session_id: acmes });
    await tick(app);
    expect(watching.heard()).toEqual([]);
  });

  test('also tells watchers that filter by a state what leaves it', async () => {
    const id = await app.open(await app.key());
    const watching = await watch(app, undefined, { filter: { state: 'idle,engaged' } });
    await app.post('/api/realtime/end', { sm_session_id: id });
    await tick(app);
    expect(watching.heard()).toMatchObject([{ changes: [{ state: 'ended', was: 'engaged' }] }]);
    watching.say({ type: 'watch', topics: ['sessions'], filter: { state: 'idle,stale' } });
    await app.open(await app.key());
    await tick(app);
    expect(watching.heard()).toEqual([]);
  });

  test('tells watchers of a session what its machine did, and nobody the whole id', async () => {
    const id = await app.open(await app.key());
    const watching = await watch(app, 'ops@example.com', { topics: [], ref: id.slice(0, 42) });
    await app.post('/api/realtime/end', { sm_session_id: id });
    const heard = watching.heard();
    expect(heard).toMatchObject([
      { type: 'event', ref: id.slice(0, 42), event: { event: 'END', from: 'engaged', to: 'ended', kind: 'ended' } },
    ]);
    expect(JSON.stringify(heard)).not.toContain(id);
  });

  test('reports operators’ acts once they are done, to those who may see them, and acts on many sessions as one', async () => {
    const [ops, boss, quiet] = [
      await watch(app, 'ops@example.com', { topics: ['audit'] }),
      await watch(app, BOSS, { topics: ['audit'] }),
      await watch(app, 'ops@example.com', { topics: ['sessions'] }),
    ];
    const service = { authorization: `Bearer ${SERVICE_TOKEN}` };
    const [acmes, globexs] = [await app.open(await app.key()), await app.open(await app.key({ tenantId: 'globex' }))];
    await app.post(`/api/operator/sessions/${encodeURIComponent(acmes)}/end`, { reason: 'one' }, service);
    const ofOne = { action: 'session.end', target: acmes.slice(0, 42), reason: 'one', result: 'done' };
    expect(ops.heard()).toMatchObject([
      { type: 'audit', row: { ...ofOne, actor: expect.stringMatching(/^service:/) } },
    ]);
    expect(boss.heard()).toEqual([]);
    const filter = { tenantId: 'globex', q: globexs };
    const cookie = await app.login('ops@example.com');
    const asked = { filter, expected: 1, reason: 'many' };
    await app.post('/api/operator/sessions/end', asked, { cookie, origin: CONSOLE });
    const ofMany = { action: 'sessions.end', tenantId: 'globex', reason: 'many', result: 'done', count: 1 };
    expect(ops.heard()).toMatchObject([{ row: { ...ofMany, actor: 'ops@example.com' } }]);
    expect(boss.heard()).toMatchObject([{ row: { ...ofMany, actor: 'o…@example.com' } }]);
    await app.post('/api/operator/search', { q: somebody() }, service);
    expect(ops.heard()).toMatchObject([{ row: { action: 'search.address', tenantId: null } }]);
    expect(boss.heard()).toEqual([]);
    expect(quiet.heard().filter(({ type }) => type === 'audit')).toEqual([]);
  });

  test('counts what does not fit into a frame', async () => {
    const watching = await watch(app);
    const { feed } = app.service;
    const id = await app.open(await app.key());
    await tick(app);
    const [frame] = watching.heard();
    if (frame?.type !== 'sessions' || frame.changes[0] === undefined) throw new Error('one change was told');
    const { changes } = frame;
    for (let n = 0; n < 1100; n += 1)
      feed.tell({
        kind: 'session',
        change: { ...changes[0]!, ref: `${id.slice(0, 38)}${String(n).padStart(4, '0')}` },
      });
    await tick(app);
    const [next] = watching.heard();
    expect(next).toMatchObject({ type: 'sessions', more: 1000 });
    expect(next?.type === 'sessions' && next.changes.length).toBe(100);
  });

  test('counts the sessions by state, and goes on without the counts while the database is away', async () => {
    const watching = await watch(app, 'ops@example.com', { topics: ['counts'] });
    clock.advance(2 * SECOND);
    await tick(app);
    expect(watching.heard()).toMatchObject([{ type: 'tick', byState: { engaged: expect.any(Number) }, lossy: false }]);
    vi.spyOn(app.service.stores.history, 'counts').mockRejectedValue(new Unavailable('database', 'gone'));
    clock.advance(2 * SECOND);
    await tick(app);
    expect(watching.heard()).toMatchObject([{ type: 'tick', byState: null }]);
  });

  test('counts only the own tenant for a tenant’s admin', async () => {
    const watching = await watch(app, BOSS, { topics: ['counts'] });
    await app.open(await app.key({ tenantId: 'globex' }));
    await app.open(await app.key());
    const { byState } = await app.service.stores.history.counts(0, ['globex']);
    clock.advance(2 * SECOND);
    await tick(app);
    expect(watching.heard()).toMatchObject([{ type: 'tick', byState: { engaged: byState.engaged } }]);
    const { byState: all } = await app.service.stores.history.counts(0);
    expect(byState.engaged).toBeLessThan(all.engaged);
  });

  test('closes when an operator revokes the login, as soon as that is told', async () => {
    const credentials = await credentialsOf(app, 'vera@example.com');
    const watching = new Watching(app, credentials);
    await expect.poll(() => watching.heard()).toMatchObject([{ type: 'hello' }]);
    const found = await app.service.logins.authenticate(String(credentials.token), clock.now());
    const headers = { authorization: `Bearer ${SERVICE_TOKEN}` };
    expect(await app.post(`/api/operator/logins/${found?.login.id}/revoke`, {}, headers)).toMatchObject({
      status: 200,
    });
    expect(await watching.closeCode()).toBe(4401);
  });

  test('closes when the login is over, as soon as that is told', async () => {
    const credentials = await credentialsOf(app, 'ops@example.com');
    const watching = new Watching(app, credentials);
    await expect.poll(() => watching.heard()).toMatchObject([{ type: 'hello' }]);
    const found = await app.service.logins.authenticate(String(credentials.token), clock.now());
    await app.service.logins.destroy(String(found?.login.id), 'logout', clock.now());
    expect(await watching.closeCode()).toBe(4401);
  });

  test('closes a sixth socket of one user, and accepts one again when another has left', async () => {
    const sockets: Watching[] = [];
    for (let n = 0; n < 5; n += 1) sockets.push(await watch(app, 'ops@example.com'));
    const sixth = new Watching(app, await credentialsOf(app, 'ops@example.com'));
    expect(await sixth.closeCode()).toBe(4429);
    sockets[0]?.listener.closed(1006);
    await watch(app, 'ops@example.com');
  });

  test('reserves half of a node’s places for watchers other than tenants’ admins', async () => {
    const admins = ['@admins.example'];
    await app.service.stores.tenants.merge([{ id: 'many', name: 'Many', agents: [], admins, keys: [] }]);
    await app.service.directory.reload();
    for (let n = 0; n < 25; n += 1) await watch(app, `${Math.floor(n / 5)}@admins.example`);
    const next = new Watching(app, await credentialsOf(app, 'last@admins.example'));
    expect(await next.closeCode()).toBe(4429);
    await watch(app, 'ops@example.com');
    await watch(app, 'vera@example.com');
  });

  test.each([
    ['what is no JSON', '{'],
    ['what is no watch frame', { type: 'end' }],
    ['a filter that it does not know by that type', { type: 'watch', topics: ['sessions'], filter: { state: 'gone' } }],
  ])('closes with 4400 for %s', async (_, frame) => {
    const watching = await watch(app);
    watching.say(frame);
    expect(watching.socket.closed).toBe(4400);
  });

  test('closes with 4429 for more than 60 frames in a minute', async () => {
    const watching = await watch(app);
    for (let n = 0; n < 60; n += 1) watching.say({ type: 'watch', topics: [] });
    expect(watching.socket.closed).toBe(4429);
  });

  test('tells a socket that did not read about the gap, and closes it if it still does not', async () => {
    const watching = await watch(app);
    const key = await app.key();
    watching.socket.isFull = true;
    await app.open(key);
    await tick(app);
    watching.socket.isFull = false;
    await app.open(key);
    await tick(app);
    expect(watching.heard()).toMatchObject([
      { type: 'gap', seq: 2, dropped: 1 },
      { type: 'sessions', seq: 3 },
    ]);
    watching.socket.isFull = true;
    await app.open(key);
    await tick(app);
    await app.open(key);
    await tick(app);
    expect(watching.socket.closed).toBe(4503);
  });

  test('tells every watcher to connect elsewhere when the node shuts down', async () => {
    const watching = await watch(app);
    app.service.feed.close();
    expect(watching.socket.closed).toBe(1012);
  });
});

describe('The feed over several nodes', () => {
  let other: TestApp;
  beforeEach(async () => {
    other = await build({ env: STAFF, clock, live: app.live });
  });

  const published = (live: LiveStores): (() => readonly string[]) => {
    const publish = vi.spyOn(live.bus, 'publish');
    return () => publish.mock.calls.map(([{ type }]) => type).filter((type) => type.startsWith('feed.'));
  };

  test('sends nothing between nodes while nobody watches', async () => {
    const types = published(app.live);
    await other.open(await other.key());
    await tick(app, other);
    expect(types()).toEqual([]);
  });

  test('reports what happens on another node as long as somebody watches', async () => {
    const types = published(app.live);
    const watching = await watch(app, 'ops@example.com');
    await tick(app, other);
    const id = await other.open(await other.key());
    await tick(other, app);
    expect(watching.heard()).toMatchObject([{ changes: [{ ref: id.slice(0, 42), state: 'engaged' }] }]);
    watching.listener.closed(1006);
    clock.advance(16 * SECOND);
    await tick(app, other);
    const told = types().length;
    await other.open(await other.key());
    await tick(other, app);
    expect(types().length).toBe(told);
  });

  test('reports notes of a session on another node only to those who may see its tenant', async () => {
    const id = await other.open(await other.key());
    const watching = await watch(app, undefined, { topics: [], ref: id });
    await tick(app, other);
    const note = { sessionId: id, atMs: clock.now(), kind: 'detached', detail: { code: 1006 } } as const;
    other.service.sessionNotes.take({ ...note, tenantId: null });
    other.service.sessionNotes.take({ ...note, tenantId: 'acme' });
    await tick(other, app);
    expect(watching.heard()).toMatchObject([
      { type: 'event', ref: id.slice(0, 42), event: { kind: 'detached', event: null, detail: { code: 1006 } } },
    ]);
  });

  test('asks the other nodes to report as soon as somebody watches, or wants more', async () => {
    const types = published(app.live);
    const watching = await watch(app, 'ops@example.com');
    await other.open(await other.key());
    await tick(other);
    expect(watching.heard()).toEqual([]);
    await tick(app);
    expect(watching.heard()).toMatchObject([{ type: 'sessions', changes: [{ state: 'engaged' }] }]);
    const said = types().length;
    watching.say({ type: 'watch', topics: ['sessions', 'refusals'] });
    expect(types().slice(said)).toEqual(['feed.watched']);
  });

  test('carries every kind of fact from node to node as text', () => {
    const change = { ref: 's:a', tenantId: 'acme' };
    const facts = [
      { kind: 'session', change },
      { kind: 'event', ref: 's:a', tenantId: 'acme', event: {} },
      { kind: 'audit', row: { actor: 'ops@example.com' } },
      { kind: 'refusals', counts: [{ code: 'NOT_FOUND', tenantId: null, keyId: null, n: 1 }], samples: [{}] },
      { kind: 'of a newer version' },
    ];
    const told = { type: 'feed.told', node: 'b', facts, more: 0 };
    expect(readBusMessage(JSON.stringify(told))).toEqual(told);
    for (const bad of [{ kind: 'audit' }, { kind: 'refusals', counts: [{}], samples: [] }, {}, 'text'])
      expect(readBusMessage(JSON.stringify({ ...told, facts: [...facts, bad] }))).toBeUndefined();
  });

  test('reports the events of a session on another node', async () => {
    const id = await other.open(await other.key());
    const watching = await watch(app, undefined, { topics: [], ref: id });
    await tick(app, other);
    await other.post('/api/realtime/end', { sm_session_id: id });
    await tick(other, app);
    expect(watching.heard()).toMatchObject([{ type: 'event', event: { event: 'END' } }]);
  });

  test('closes the sockets of a login that ends on another node, at once', async () => {
    const email = 'ops@example.com';
    const cookie = await app.login(email);
    const token = cookie.slice(cookie.indexOf('=') + 1);
    const watching = new Watching(app, { service: null, token });
    await expect.poll(() => watching.heard()).toMatchObject([{ type: 'hello' }]);
    const staying = await watch(app, email);
    await other.post('/api/auth/logout', {}, { cookie, origin: CONSOLE });
    expect(await watching.closeCode()).toBe(4401);
    expect(staying.socket.closed).toBeUndefined();
  });

  test('checks again who is watching after a gap, in which a login may have ended', async () => {
    let tellGap = (): void => undefined;
    vi.spyOn(app.live.bus, 'onGap').mockImplementation((listener) => {
      const before = tellGap;
      tellGap = () => {
        before();
        listener();
      };
      return () => undefined;
    });
    const here = await build({ env: STAFF, clock, live: app.live });
    const elsewhere = await build({ env: STAFF, clock });
    const cookie = await here.login('ops@example.com');
    const watching = new Watching(here, { service: null, token: cookie.slice(cookie.indexOf('=') + 1) });
    await expect.poll(() => watching.heard()).toMatchObject([{ type: 'hello' }]);
    await elsewhere.post('/api/auth/logout', {}, { cookie, origin: CONSOLE });
    expect(watching.socket.closed).toBeUndefined();
    tellGap();
    expect(await watching.closeCode()).toBe(4401);
  });

  test('reports a gap if more happened than nodes tell each other', async () => {
    const watching = await watch(app);
    await tick(app, other);
    const id = await other.open(await other.key());
    await tick(other, app);
    const [frame] = watching.heard();
    if (frame?.type !== 'sessions' || frame.changes[0] === undefined) throw new Error('one change was told');
    for (let n = 0; n < 201; n += 1)
      other.service.feed.tell({
        kind: 'session',
        change: { ...frame.changes[0], ref: `${id.slice(0, 38)}${String(n).padStart(4, '0')}` },
      });
    await tick(other, app);
    expect(watching.heard()).toMatchObject([
      { type: 'gap', dropped: null },
      { type: 'sessions', more: 100 },
    ]);
  });

  test('says that it is cut off from other nodes, and that something may have been missed', async () => {
    let isConnected = true;
    const { bus } = app.live;
    Object.defineProperty(bus, 'isConnected', { get: () => isConnected });
    const watching = await watch(app, undefined, { topics: ['counts'] });
    await tick(app);
    watching.heard();
    isConnected = false;
    clock.advance(2 * SECOND);
    await tick(app);
    expect(watching.heard()).toMatchObject([
      { type: 'gap', dropped: null },
      { type: 'tick', lossy: true },
    ]);
    const late = new Watching(app, { service: SERVICE_NAME, token: null });
    await expect.poll(() => late.heard()).toMatchObject([{ type: 'hello', lossy: true }]);
  });
});
