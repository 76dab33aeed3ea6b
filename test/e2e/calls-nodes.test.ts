import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { reasonToSkipPostgres } from '../support/services/postgres.ts';
import { reasonToSkipRedis, startRedis, type RedisService } from '../support/services/redis.ts';
import { soon } from '../support/soon.ts';
import type { Switchboard } from '../support/switchboard.ts';
import type { World } from '../support/world.ts';
import { microDollars, Page, responseOf, seen, startCalls, type CallSeen } from './calls-world.ts';

const reason = reasonToSkipPostgres() ?? reasonToSkipRedis();

describe.skipIf(reason !== undefined)(`Calls over two nodes ${reason ?? ''}`, () => {
  let redis: RedisService;
  let world: World;
  /** Holds the calls that pages open through it. */
  let one: Switchboard;
  /** The world's server, which operators ask. */
  let two: Switchboard;

  beforeAll(async () => {
    redis = await startRedis();
    await start();
  });

  afterEach(async () => {
    expect(world.leaks()).toEqual([]);
    if (one.isRunning) return;
    await world.close();
    await start();
  });

  afterAll(async () => {
    await one?.end('SIGKILL');
    await world?.close();
    await redis?.stop();
  });

  async function start(): Promise<void> {
    world = await startCalls({ REDIS_URL: redis.url, HEARTBEAT_INTERVAL_SEC: '5' });
    one = world.server;
    two = await world.startServer();
  }

  const pageAtOne = (): Page => new Page(() => one.origin, world.confidential);
  const atTwo = (page: Page): Page => page.at(() => two.origin);
  const callOf = async (page: Page): Promise<CallSeen | undefined> => (await seen(world, page)).calls[0];

  test('are hung up when the client or an operator ends the session on the other node', async () => {
    for (const end of [
      (page: Page) => atTwo(page).end(),
      ({ sessionId }: Page) => world.backend().post(`/api/operator/sessions/${encodeURIComponent(sessionId)}/end`, {}),
    ]) {
      const page = pageAtOne();
      const call = await page.call(world);
      const owner = (await callOf(page))?.ownerNode;
      expect((await end(page)).status).toBe(200);
      await vi.waitFor(() => expect(call.ended?.reason).toBe('hangup'), soon);
      await vi.waitFor(
        async () =>
          expect(await callOf(page)).toMatchObject({ state: 'closed', hangup: 'confirmed', ownerNode: owner }),
        soon,
      );
    }
  });

  test('are hung up when the session opens another on the other node', async () => {
    const page = pageAtOne();
    const first = await page.call(world);
    const second = await (await atTwo(page).askTicket()).dial(world);
    await vi.waitFor(() => expect(first.ended?.reason).toBe('hangup'), soon);
    expect(second.ended).toBeUndefined();
    expect((await seen(world, page)).calls).toMatchObject([{ state: 'open' }, { closeReason: 'replaced' }]);
  });

  test('of a session that another page resumes on the other node count towards one budget, and belong to one session', async () => {
    const page = pageAtOne();
    const first = await page.call(world);
    const { usage, tokens } = responseOf();
    first.respond(usage);
    await vi.waitFor(async () => expect(await page.usage()).toMatchObject({ tokens }), soon);
    const socket = await page.listen(['call']);
    const { resume } = JSON.parse(await socket.hear()) as { readonly resume: string };

    const next = atTwo(page);
    const reply = await next.tryCreate({ resume });
    expect([reply.status, reply.body]).toMatchObject([200, { resumed: true, sm_session_id: page.sessionId }]);
    const second = await next.dial(world);
    await vi.waitFor(() => expect(first.ended?.reason).toBe('hangup'), soon);
    second.respond(usage);
    await vi.waitFor(async () => expect(await next.usage()).toMatchObject({ tokens: 2 * tokens }), soon);
    const spent = (await seen(world, page)).calls.map((call) => call.microDollars);
    expect(spent).toEqual([spent[0], spent[0]]);
    expect(spent[0]).toBeGreaterThan(0);
    const again = await page.tryCreate({ resume });
    expect([again.status, again.body]).toMatchObject([409, { code: 'RESUME_REFUSED' }]);
  });

  test('are opened once by a ticket that reaches both nodes at the same time', async () => {
    const page = await pageAtOne().create();
    const before = world.provider.calls.all.length;
    const replies = await Promise.all([
      page.exchange(),
      atTwo(page).exchange(),
      page.exchange(),
      atTwo(page).exchange(),
    ]);
    expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 401, 401, 401]);
    expect(world.provider.calls.all).toHaveLength(before + 1);
  });

  test('of many pages open at the same time, and none is left open', async () => {
    const pages = Array.from({ length: 24 }, (_, n) => (n % 2 === 0 ? pageAtOne() : atTwo(pageAtOne())));
    const before = world.provider.calls.all.length;
    for (const page of pages) await page.create();
    const statuses = (await Promise.all(pages.map((page) => page.exchange()))).map(({ status }) => status);
    expect(statuses.filter((status) => status !== 201)).toEqual([]);
    for (const page of pages) await vi.waitFor(async () => expect((await page.end()).status).toBe(200), soon);
    const calls = world.provider.calls.all.slice(before);
    expect(calls).toHaveLength(pages.length);
    await vi.waitFor(() => expect(calls.filter(({ ended }) => ended?.reason !== 'hangup')).toEqual([]), soon);
  });

  test('are taken over when their node is killed: they are heard again, counted once, and hung up with their session', async () => {
    const page = pageAtOne();
    const call = await page.call(world);
    const { usage, tokens, pico } = responseOf();
    const id = call.respond(usage);
    await vi.waitFor(async () => expect(await atTwo(page).usage()).toMatchObject({ tokens }), soon);
    const owner = (await callOf(page))?.ownerNode;

    await one.end('SIGKILL');
    await vi.waitFor(() => expect([call.attached, call.sidebands.size]).toEqual([2, 1]), soon);
    await vi.waitFor(async () => expect((await callOf(page))?.gapSec).toBeGreaterThan(0), soon);
    const taken = await callOf(page);
    expect(taken?.ownerNode).not.toBe(owner);
    expect(taken?.estimatedMicroDollars).toBeGreaterThan(0);
    // A response whose id was counted before the takeover is not counted again.
    call.respond(usage, id);
    call.respond(usage);
    await vi.waitFor(async () => expect(await atTwo(page).usage()).toMatchObject({ tokens: 2 * tokens }), soon);
    const { microDollars: all = 0, estimatedMicroDollars: estimated = 0 } = (await callOf(page)) ?? {};
    expect(Math.abs(all - estimated - microDollars(2n * pico))).toBeLessThanOrEqual(1);

    await atTwo(page).end();
    await vi.waitFor(() => expect(call.ended?.reason).toBe('hangup'), soon);
    await vi.waitFor(
      async () => expect(await callOf(page)).toMatchObject({ state: 'closed', hangup: 'confirmed' }),
      soon,
    );
  });

  test('are handed over when their node shuts down, and go on', async () => {
    const page = pageAtOne();
    const call = await page.call(world);
    const owner = (await callOf(page))?.ownerNode;
    expect(await one.end('SIGTERM')).toEqual({ code: 0, signal: null });
    await vi.waitFor(() => expect([call.attached, call.sidebands.size]).toEqual([2, 1]), soon);
    await vi.waitFor(async () => {
      const taken = await callOf(page);
      expect(taken?.state).toBe('open');
      expect(taken?.ownerNode).not.toBe(owner);
    }, soon);
    expect(call.ended).toBeUndefined();
    await atTwo(page).end();
    await vi.waitFor(() => expect(call.ended?.reason).toBe('hangup'), soon);
  });

  test('are hung up on every node by the emergency stop, and a node that starts later opens none', async () => {
    const pages = [pageAtOne(), new Page(() => two.origin, world.confidential)];
    const calls = await Promise.all(pages.map((page) => page.call(world)));
    const stop = (what: 'stop' | 'resume') => world.backend().post(`/api/operator/${what}`, { reason: 'a drill' });
    expect(await stop('stop')).toMatchObject({ status: 200 });
    for (const call of calls) await vi.waitFor(() => expect(call.ended?.reason).toBe('hangup'), soon);
    const stops = () => world.backend().get('/api/operator/stop');
    await vi.waitFor(
      async () => expect((await stops()).body).toMatchObject({ open: { sessions: 0, calls: { open: 0, closing: 0 } } }),
      soon,
    );
    await one.end('SIGKILL');
    one = await world.startServer();
    const refused = { status: 403, body: { code: 'SERVICE_STOPPED' } };
    for (const node of [one, two])
      expect(await new Page(() => node.origin, world.confidential).tryCreate()).toMatchObject(refused);
    expect(await stop('resume')).toMatchObject({ status: 200 });
    for (const node of [one, two])
      await vi.waitFor(
        async () =>
          expect(await new Page(() => node.origin, world.confidential).tryCreate()).toMatchObject({ status: 200 }),
        soon,
      );
  });
});
