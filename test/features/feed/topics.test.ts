import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { FeedFrame } from '../../../src/protocol/operator/feed.ts';
import type { BusMessage } from '../../../src/protocol/bus.ts';
import { CONSOLE, type TestApp } from '../../support/app.ts';
import { ManualClock, NOON, SECOND } from '../../support/clock.ts';
import { useApps } from '../../support/use-apps.ts';
import { tickOf, watch, type Watching } from './watching.ts';

const { build, database } = useApps();

const env = { OPERATOR_EMAILS: 'ops@example.com', VIEWER_EMAILS: 'vera@example.com' };
/** The admin of the tenant globex. */
const BOSS = 'boss@globex.example';
const MINUTE = 60 * SECOND;

let clock: ManualClock;
let app: TestApp;
beforeEach(async () => {
  clock = new ManualClock();
  app = await build({ env, clock });
});

const tick = (...nodes: readonly TestApp[]): Promise<void> => tickOf(clock, ...nodes);

type Frame<T extends FeedFrame['type']> = Extract<FeedFrame, { type: T }>;

/** The frames of a type that have arrived since the last call. */
function heard<T extends FeedFrame['type']>(watching: Watching, type: T): readonly Frame<T>[] {
  return watching.heard().filter((frame): frame is Frame<T> => frame.type === type);
}

/** Sends a request that is refused, because the key does not allow its origin. @returns the key's id */
async function refuse(node: TestApp, tenantId: string): Promise<string> {
  const { key, id } = await node.key({ tenantId });
  await node.post('/api/session', { widgetKey: key }, { origin: 'https://elsewhere.example' });
  return id;
}

describe('The feed of refusals', () => {
  test('counts what was refused by code, with samples as the API shows them', async () => {
    const watching = await watch(app, 'ops@example.com', { topics: ['refusals'] });
    const keyId = await refuse(app, 'acme');
    await app.get('/api/nothing');
    await tick(app);
    const [frame] = heard(watching, 'refusals');
    expect(frame).toMatchObject({ byCode: { ORIGIN_MISMATCH: 1, NOT_FOUND: 1 }, more: 0 });
    const requestId = String(frame?.samples[0]?.requestId);
    const cookie = await app.login('ops@example.com');
    const found = await app.get(`/api/operator/refusals?requestId=${requestId}`, { cookie, origin: CONSOLE });
    expect(found.body).toEqual({ found: 'exact', refusal: frame?.samples[0] });
    expect(frame?.samples[0]).toMatchObject({ tenantId: 'acme', keyId, code: 'ORIGIN_MISMATCH' });
    await tick(app);
    expect(heard(watching, 'refusals')).toEqual([]);
  });

  test('tells an admin of a tenant of that tenant alone, and of what a filter leaves', async () => {
    const boss = await watch(app, BOSS, { topics: ['refusals'] });
    const filtering = await watch(app, undefined, { topics: ['refusals'], filter: { tenantId: 'acme' } });
    await refuse(app, 'acme');
    const keyId = await refuse(app, 'globex');
    await app.get('/api/nothing');
    await tick(app);
    expect(heard(boss, 'refusals')).toMatchObject([
      { byCode: { ORIGIN_MISMATCH: 1 }, samples: [{ tenantId: 'globex', keyId }], more: 0 },
    ]);
    expect(heard(filtering, 'refusals')).toMatchObject([
      { byCode: { ORIGIN_MISMATCH: 1 }, samples: [{ tenantId: 'acme' }], more: 0 },
    ]);
  });

  test('tells of a flood once a second, twenty of it whole, and counts the others', async () => {
    const watching = await watch(app, undefined, { topics: ['refusals'] });
    for (let n = 0; n < 30; n += 1) await app.get('/api/nothing');
    await tick(app);
    const [frame] = heard(watching, 'refusals');
    expect(frame?.byCode).toEqual({ NOT_FOUND: 30 });
    expect(frame?.samples.length).toBeGreaterThan(0);
    expect(frame?.samples.length).toBeLessThanOrEqual(20);
    expect(frame?.more).toBe(30 - Number(frame?.samples.length));
    await app.get('/api/nothing');
    clock.advance(250);
    app.service.feed.tick();
    expect(heard(watching, 'refusals')).toEqual([]);
    clock.advance(750);
    app.service.feed.tick();
    expect(heard(watching, 'refusals')).toMatchObject([{ byCode: { NOT_FOUND: 1 } }]);
  });

  test('tells what another node refuses, which gathers and publishes nothing while nobody wants it', async () => {
    const other = await build({ env, clock, live: app.live });
    const told: BusMessage[] = [];
    app.live.bus.subscribe((message) => void (message.type === 'feed.told' && told.push(message)));
    const watching = await watch(app, 'ops@example.com', { topics: ['counts', 'sessions'] });
    await refuse(other, 'acme');
    await tick(other, app);
    expect(told).toEqual([]);
    watching.say({ type: 'watch', topics: ['refusals'] });
    await tick(other, app);
    expect(told).toEqual([]);
    await refuse(other, 'acme');
    await tick(other, app);
    expect(heard(watching, 'refusals')).toMatchObject([{ byCode: { ORIGIN_MISMATCH: 1 } }]);
  });
});

describe('The feed of nodes', () => {
  test('tells a process each time that it told of itself, and when it is not there any more', async () => {
    const other = await build({ env, clock, live: app.live });
    const watching = await watch(app, 'vera@example.com', { topics: ['nodes'] });
    const boss = await watch(app, BOSS, { topics: ['nodes'] });
    await app.service.presence.beat();
    await other.service.presence.beat();
    await tick(app);
    const [one, two] = heard(watching, 'node');
    expect(one).toMatchObject({ gone: false, node: { seenAt: new Date(NOON).toISOString() } });
    expect(two?.node.id).not.toBe(one?.node.id);
    clock.advance(2 * SECOND);
    await tick(app);
    expect(heard(watching, 'node')).toEqual([]);
    await app.service.presence.beat();
    await other.service.presence.leave();
    await tick(app);
    expect(heard(watching, 'node')).toEqual([]);
    clock.advance(SECOND);
    await tick(app);
    const changes = heard(watching, 'node');
    expect(changes).toHaveLength(2);
    expect(new Set(changes.map(({ gone }) => gone))).toEqual(new Set([false, true]));
    clock.advance(16 * SECOND);
    await tick(app);
    expect(heard(watching, 'node')).toMatchObject([{ gone: true }]);
    expect(boss.heard()).toEqual([]);
  });
});

describe('The tick of the feed', () => {
  async function figures(watching: Watching): Promise<Frame<'tick'> | undefined> {
    clock.advance(SECOND);
    await tick(app);
    return heard(watching, 'tick').at(-1);
  }

  test('has what the overview has of the same moment', async () => {
    await app.service.presence.beat();
    const watching = await watch(app, 'ops@example.com', { topics: ['counts'] });
    await app.open(await app.key());
    await app.get('/api/nothing');
    await app.service.activityWriter.flush();
    clock.advance(MINUTE);
    const frame = await figures(watching);
    const cookie = await app.login('ops@example.com');
    const { body } = await app.get('/api/operator/overview', { cookie, origin: CONSOLE });
    const { byState, endingSoon, dependencies } = frame ?? {};
    expect(body).toMatchObject({ byState, endingSoon, dependencies });
    expect(frame?.perMinute).toMatchObject({ started: 1, ended: 0, refused: expect.any(Number) });
    expect(frame?.perMinute?.refused).toBeGreaterThan(0);
    expect(dependencies?.map(({ name }) => name)).toContain('database');
  });

  test('counts what ends within a minute, and tells who is shown some tenants nothing of the installation', async () => {
    await app.service.presence.beat();
    const watching = await watch(app, BOSS, { topics: ['counts'] });
    const before = await figures(watching);
    await app.open(await app.key({ tenantId: 'globex' }));
    clock.advance(14.5 * MINUTE);
    expect(await figures(watching)).toMatchObject({ dependencies: null, endingSoon: Number(before?.endingSoon) + 1 });
  });

  test('comes with what is known while the database is away', async () => {
    await app.service.presence.beat();
    const watching = await watch(app, 'ops@example.com', { topics: ['counts'] });
    await figures(watching);
    database().isAway = true;
    clock.advance(MINUTE);
    expect(await figures(watching)).toMatchObject({
      byState: null,
      endingSoon: null,
      perMinute: null,
      dependencies: [{ name: 'database' }, {}, {}, {}],
    });
  });

  test('is read once for all who are shown the same, and not at all while nobody watches', async () => {
    const { history, activity } = app.service.stores;
    const reads = [vi.spyOn(history, 'counts'), vi.spyOn(history, 'countEnding'), vi.spyOn(activity, 'sums')];
    const count = (): number[] => reads.map(({ mock }) => mock.calls.length);
    clock.advance(SECOND);
    await tick(app);
    await watch(app, 'ops@example.com', { topics: ['sessions', 'refusals', 'nodes', 'audit'] });
    clock.advance(SECOND);
    await tick(app);
    expect(count()).toEqual([0, 0, 0]);
    for (const email of ['ops@example.com', 'vera@example.com', undefined])
      await watch(app, email, { topics: ['counts'] });
    clock.advance(SECOND);
    await tick(app);
    // Sums of the last minute, and of the last five for how fast the provider answers.
    expect(count()).toEqual([1, 1, 2]);
    clock.advance(SECOND);
    await tick(app);
    expect(count()).toEqual([2, 2, 2]);
    await watch(app, BOSS, { topics: ['counts'] });
    clock.advance(SECOND);
    await tick(app);
    expect(count()).toEqual([4, 4, 3]);
  });
});
