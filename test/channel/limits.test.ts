import { describe, expect, it } from 'vitest';
import { SECOND } from '../support/clock.ts';
import { attached, ChannelClient } from './client.ts';
import { useApps } from '../support/use-apps.ts';

const { build } = useApps();

describe('a bad frame', () => {
  it.each([
    'nonsense',
    '',
    '{"type":"heartbeat"',
    'null',
    '[]',
    '"heartbeat"',
    '{}',
    '{"type":"unknown"}',
    '{"type":"state","state":"idle"}',
    '{"type":["heartbeat"]}',
    '{"type":"heartbeat","idleSec":-1}',
    '{"type":"heartbeat","idleSec":1.5}',
    '{"type":"heartbeat","idleSec":"1"}',
    '{"type":"heartbeat","idleSec":null}',
    '{"type":"heartbeat","idleSec":1e999}',
    '{"type":"heartbeat","id":{}}',
    '{"type":"heartbeat","id":1.5}',
    '{"type":"heartbeat","id":"\\u0000"}',
    '{"type":"heartbeat","id":"\\ud800"}',
    `{"type":"heartbeat","id":"${'x'.repeat(256)}"}`,
    '{"type":"attach"}',
    '{"type":"attach","sm_session_id":5}',
    '{"type":"attach","sm_session_id":"s","email":"no address"}',
    '{"type":"attach","sm_session_id":"s","language":5}',
    '{"type":"attach","sm_session_id":"s","language":""}',
    '{"type":"attach","sm_session_id":"s","language":"de_AT"}',
    `{"type":"attach","sm_session_id":"s","language":"de${'-abcdefg'.repeat(5)}"}`,
    '['.repeat(4000),
    `{"type":"end","deep":${'['.repeat(1900)}${']'.repeat(1900)}`,
  ])('such as %s is answered with an error, and the third closes with 4400', async (text) => {
    const app = await build();
    const client = attached(app, await app.open(await app.key()));
    client.say(text);
    client.say({ type: 'heartbeat' });
    client.say(text);
    expect(client.heard()).toMatchObject([
      { type: 'error', code: 'INVALID_REQUEST', userMessage: expect.stringMatching(/\w/) },
      { type: 'heartbeat' },
      { type: 'error' },
    ]);
    expect(client.closeCode).toBeUndefined();
    client.say(text);
    expect(client.heard()).toMatchObject([{ type: 'error' }]);
    expect(client.closeCode).toBe(4400);
  });

  it('may also be one that is not text', async () => {
    const app = await build();
    const client = attached(app, await app.open(await app.key()));
    for (const _ of [1, 2, 3]) client.listener.binary();
    expect(client.heard()).toMatchObject([{ type: 'error' }, { type: 'error' }, { type: 'error' }]);
    expect(client.closeCode).toBe(4400);
  });

  it('counts even before attaching', async () => {
    const app = await build();
    const client = new ChannelClient(app);
    for (const _ of [1, 2, 3]) client.say({ type: 'heartbeat' });
    expect(client.closeCode).toBe(4400);
  });
});

describe('the budget of frames', () => {
  const env = { RATE_BURST: '5', RATE_IP_PER_MIN: '60' };

  it('lets RATE_BURST frames through at once, and closes with 4429 on the next', async () => {
    const app = await build({ env });
    const client = attached(app, await app.open(await app.key()));
    for (let i = 0; i < 4; i += 1) client.say({ type: 'heartbeat' });
    expect(client.heard()).toHaveLength(4);
    client.say({ type: 'heartbeat' });
    expect(client.heard()).toEqual([]);
    expect(client.closeCode).toBe(4429);
    expect(app.service.hub.attached).toBe(0);
  });

  it('is earned back with RATE_IP_PER_MIN frames a minute', async () => {
    const app = await build({ env });
    const client = attached(app, await app.open(await app.key()));
    for (let i = 0; i < 4; i += 1) client.say({ type: 'heartbeat' });
    for (let i = 0; i < 100; i += 1) {
      app.clock.advance(SECOND);
      client.say({ type: 'heartbeat' });
    }
    expect(client.heard()).toHaveLength(104);
    app.clock.advance(0.9 * SECOND);
    client.say({ type: 'heartbeat' });
    expect(client.closeCode).toBe(4429);
  });

  it('is also spent by bad frames, binary ones and pings', async () => {
    const app = await build({ env });
    const client = attached(app, await app.open(await app.key()));
    client.say('nonsense');
    client.listener.binary();
    client.listener.ping();
    client.listener.ping();
    expect(client.closeCode).toBeUndefined();
    client.listener.ping();
    expect(client.closeCode).toBe(4429);
  });

  it('is shared by all sockets of a session, and each session has its own', async () => {
    const app = await build({ env });
    const key = await app.key();
    const id = await app.open(key);
    const [one, other] = [attached(app, id), attached(app, id)];
    const stranger = attached(app, await app.open(key));
    for (let i = 0; i < 3; i += 1) one.say({ type: 'heartbeat' });
    other.say({ type: 'heartbeat' });
    stranger.say({ type: 'heartbeat' });
    expect([one.closeCode, other.closeCode, stranger.closeCode]).toEqual([undefined, 4429, undefined]);
  });

  it('does not start anew with another socket', async () => {
    const app = await build({ env });
    const id = await app.open(await app.key());
    const one = attached(app, id);
    for (let i = 0; i < 4; i += 1) one.say({ type: 'heartbeat' });
    one.listener.closed(1006);
    app.service.hub.tick();
    const again = new ChannelClient(app);
    again.say({ type: 'attach', sm_session_id: id });
    expect(again.heard()).toEqual([]);
    expect(again.closeCode).toBe(4429);
    app.clock.advance(2 * SECOND);
    app.service.hub.tick();
    const later = attached(app, id);
    later.say({ type: 'heartbeat' });
    expect(later.heard()).toHaveLength(1);
    later.say({ type: 'heartbeat' });
    expect(later.closeCode).toBe(4429);
  });

  it('is also shared by all sockets of an address, which allows for as many sessions as it may hold with four sockets each', async () => {
    const app = await build({ env: { ...env, MAX_SOCKETS_PER_IP: '8' } });
    const sockets = Array.from({ length: 4 }, () => new ChannelClient(app, '192.0.2.1'));
    for (let frames = 0; frames < 10; frames += 1) sockets[frames % 4]?.listener.ping();
    expect(sockets.map(({ closeCode }) => closeCode)).toEqual([undefined, undefined, undefined, undefined]);
    sockets[0]?.listener.ping();
    new ChannelClient(app, '192.0.2.2').listener.ping();
    expect(sockets.map(({ closeCode }) => closeCode)).toEqual([4429, undefined, undefined, undefined]);
    const again = new ChannelClient(app, '192.0.2.1');
    again.listener.ping();
    expect(again.closeCode).toBe(4429);
  });
});

describe('a socket that does not read', () => {
  it('is closed with 4503 instead of losing an answer', async () => {
    const app = await build();
    const client = attached(app, await app.open(await app.key()));
    client.socket.isFull = true;
    client.say({ type: 'heartbeat' });
    expect(client.closeCode).toBe(4503);
    expect(app.service.hub.attached).toBe(0);
  });

  it('delays no other socket when something is pushed', async () => {
    const app = await build();
    const id = await app.open(await app.key());
    const [stuck, well] = [attached(app, id), attached(app, id)];
    stuck.socket.isFull = true;
    app.live.bus.publish({ type: 'session.moved', sessionId: id, state: 'idle', endReason: null });
    expect(stuck.closeCode).toBe(4503);
    expect(well.heard()).toEqual([{ type: 'state', state: 'idle' }]);
  });
});
