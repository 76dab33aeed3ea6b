import { describe, expect, it } from 'vitest';
import { Unavailable } from '../../src/kernel/errors.ts';
import { dueAt } from '../../src/sessions/deadlines.ts';
import { createInProcessStores, createInProcessSlots } from '../../src/stores/in-process.ts';
import type { LiveStores } from '../../src/stores/contract.ts';
import { somebody } from '../support/app.ts';
import { ManualClock, MINUTE, SECOND } from '../support/clock.ts';
import { attached, ChannelClient } from './client.ts';
import { useApps } from '../support/use-apps.ts';

const { build } = useApps();
const limits = { maxMinutes: 15, maxIdleSec: 300, staleGraceSec: 3600, staleReapSec: 3600 };

describe('a session', () => {
  it('has at most four sockets: another is closed with 4429 until one of them leaves', async () => {
    const app = await build();
    const id = await app.open(await app.key());
    const four = [1, 2, 3, 4].map(() => attached(app, id));
    const fifth = new ChannelClient(app);
    fifth.say({ type: 'attach', sm_session_id: id });
    expect(fifth.heard()).toEqual([]);
    expect(fifth.socket.closed).toEqual({ code: 4429, reason: 'too many sockets of this session' });
    four[0]?.listener.closed(1006);
    attached(app, id);
    for (const socket of four.slice(1)) {
      socket.say({ type: 'heartbeat' });
      expect(socket.heard()).toMatchObject([{ type: 'heartbeat' }]);
    }
  });

  it('loses no socket to callers who may not attach', async () => {
    const app = await build();
    const email = somebody();
    const id = await app.open(await app.key(), { email });
    for (let tries = 0; tries < 5; tries += 1) {
      const stranger = new ChannelClient(app);
      stranger.say({ type: 'attach', sm_session_id: id, email: somebody() });
      expect(stranger.closeCode).toBe(4404);
    }
    for (let sockets = 0; sockets < 4; sockets += 1) attached(app, id, email);
  });
});

describe('an address', () => {
  const env = { MAX_SOCKETS_PER_IP: '3' };

  it('has at most MAX_SOCKETS_PER_IP sockets, attached or not: another is closed with 4429', async () => {
    const app = await build({ env });
    const key = await app.key();
    const three = [1, 2, 3].map(() => new ChannelClient(app, '192.0.2.1'));
    three[0]?.say({ type: 'attach', sm_session_id: await app.open(key) });
    const fourth = new ChannelClient(app, '192.0.2.1');
    expect(fourth.socket.closed).toEqual({ code: 4429, reason: 'too many sockets of this address' });
    fourth.say({ type: 'attach', sm_session_id: await app.open(key) });
    expect(fourth.heard()).toEqual([]);
    expect(new ChannelClient(app, '192.0.2.2').closeCode).toBeUndefined();
    three[1]?.listener.closed(1006);
    expect(new ChannelClient(app, '192.0.2.1').closeCode).toBeUndefined();
  });

  it('may be that of an office with a hundred sessions, all of which send heartbeats', async () => {
    const app = await build({ env: { RATE_IP_PER_MIN: '60' } });
    const key = await app.key({ limits: { concurrentSessions: 200, sessionsPerMinute: 200 } });
    const sockets: ChannelClient[] = [];
    for (let n = 0; n < 100; n += 1) {
      const opened = await app.send({
        method: 'POST',
        path: '/api/session',
        body: { widgetKey: key.key },
        headers: { origin: key.origin },
        peer: `203.0.113.${n}`,
      });
      sockets.push(attached(app, String(opened.body['sm_session_id'])));
    }
    for (let beats = 0; beats < 5; beats += 1) {
      app.clock.advance(45 * SECOND);
      for (const socket of sockets) socket.say({ type: 'heartbeat' });
    }
    for (const socket of sockets) expect(socket.heard().map(({ type }) => type)).toEqual(Array(5).fill('heartbeat'));
  });
});

describe('usage frames', () => {
  it('are counted by the window of their address, as requests are', async () => {
    const app = await build({ env: { RATE_IP_PER_MIN: '5' } });
    const key = await app.key();
    const [one, two] = [await app.open(key), await app.open(key)];
    const sockets = [one, two, two].map((id) => attached(app, id));
    // Opening the sessions spent two of the five.
    const answers = [];
    for (let n = 0; n < 6; n += 1) {
      const socket = sockets[n % 3];
      socket?.say({ type: 'usage', tokens: 1, dollars: 0, id: `u${n}` });
      answers.push(await socket?.hear());
    }
    expect(answers.map((answer) => answer?.type)).toEqual(['usage', 'usage', 'usage', 'error', 'error', 'error']);
    expect(answers[3]).toEqual({
      type: 'error',
      code: 'RATE_LIMIT_EXCEEDED',
      error: 'More than 5 requests in a minute; wait 60 s.',
      userMessage: expect.stringMatching(/wait/),
      retryAfter: 60,
      id: 'u3',
    });
    expect((await app.get('/api/auth/session')).status).toBe(429);
    const elsewhere = attached(app, one, undefined, '192.0.2.9');
    elsewhere.say({ type: 'usage', tokens: 1, dollars: 0, id: 'u3' });
    expect(await elsewhere.hear()).toMatchObject({ type: 'usage', usage: { tokens: 4 } });
    app.clock.advance(MINUTE);
    sockets[0]?.say({ type: 'usage', tokens: 1, dollars: 0, id: 'u9' });
    expect(await sockets[0]?.hear()).toMatchObject({ type: 'usage', usage: { tokens: 5 } });
  });
});

describe('over several nodes', () => {
  /** Live stores of one node, which shares with the others only the sockets of sessions. */
  function sharedStores(clock: ManualClock, sockets: LiveStores['sockets']): LiveStores {
    return { ...createInProcessStores(dueAt(limits), clock, () => undefined), sockets };
  }

  it('a session has at most four sockets, and those of a dead node are freed after a while', async () => {
    const clock = new ManualClock();
    const live = sharedStores(clock, { ...createInProcessSlots(), keepAlive: () => undefined });
    const [here, there] = [await build({ live, clock }), await build({ live, clock })];
    const id = await here.open(await here.key());
    for (const app of [here, there, here, there]) attached(app, id);
    const refused = new ChannelClient(there);
    refused.say({ type: 'attach', sm_session_id: id });
    expect(refused.closeCode).toBe(4429);
    // One node lives on; heartbeats keep the session alive.
    const survivor = [...Array(3)].map(() => 45 * SECOND);
    for (const ms of survivor) {
      clock.advance(ms);
      here.service.hub.tick();
      await here.post('/api/realtime/heartbeat', { sm_session_id: id });
    }
    attached(here, id);
    attached(here, id);
    const late = new ChannelClient(here);
    late.say({ type: 'attach', sm_session_id: id });
    expect(late.closeCode).toBe(4429);
  });

  it('each node counts for itself while the shared store is away', async () => {
    const clock = new ManualClock();
    const away = (): Promise<never> => Promise.reject(new Unavailable('registry'));
    const live = sharedStores(clock, { take: away, renew: away, free: away, count: away, keepAlive: away });
    const app = await build({ live, clock });
    const id = await app.open(await app.key());
    const sockets = [1, 2, 3, 4, 5].map(() => new ChannelClient(app));
    for (const socket of sockets) socket.say({ type: 'attach', sm_session_id: id });
    await expect.poll(() => sockets.map(({ closeCode }) => closeCode)).toEqual([...Array(4), 4429]);
    for (const socket of sockets.slice(0, 4)) expect(await socket.hear()).toMatchObject({ type: 'attached' });
    clock.advance(45 * SECOND);
    app.service.hub.tick();
    sockets[0]?.listener.closed(1006);
    await new Promise(setImmediate);
    expect(app.faults).toEqual([]);
  });
});
