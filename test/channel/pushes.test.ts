import { describe, expect, it } from 'vitest';
import { somebody } from '../support/app.ts';
import { MINUTE, SECOND } from '../support/clock.ts';
import { attached, ChannelClient } from './client.ts';
import { useApps } from '../support/use-apps.ts';

const { build } = useApps();

describe('what is heard of a call', () => {
  it('goes to all sockets of its session and to no other, and leaves the session as it is', async () => {
    const app = await build();
    const key = await app.key();
    const [sessionId, otherId] = [await app.open(key), await app.open(key)];
    const [client, tab, other] = [attached(app, sessionId), attached(app, sessionId), attached(app, otherId)];
    const unattached = new ChannelClient(app);
    app.live.bus.publish({ type: 'call.told', sessionId, callId: 'call_1', event: 'speaking' });
    for (const socket of [client, tab])
      expect(socket.heard()).toEqual([{ type: 'call', event: 'speaking', call: 'call_1' }]);
    for (const socket of [other, unattached]) expect(socket.heard()).toEqual([]);
    expect(client.closeCode).toBeUndefined();
  });
});

describe('a transition is pushed', () => {
  it('when the clock causes it: idle, stale, and the end', async () => {
    const app = await build({ env: { MAX_SESSION_MINUTES: '1440' } });
    const client = attached(app, await app.open(await app.key()));
    app.clock.advance(300 * SECOND);
    await app.sweep();
    expect(client.heard()).toEqual([]);
    app.clock.advance(SECOND);
    await app.sweep();
    expect(client.heard()).toEqual([{ type: 'state', state: 'idle' }]);
    app.clock.advance(3300 * SECOND);
    await app.sweep();
    expect(client.heard()).toEqual([{ type: 'state', state: 'stale' }]);
    app.clock.advance(3600 * SECOND);
    await app.sweep();
    expect(client.heard()).toMatchObject([{ type: 'ended', reason: 'abandoned' }]);
    expect(client.closeCode).toBe(4403);
  });

  it('one by one when a late event finds that several happened', async () => {
    const app = await build();
    const id = await app.open(await app.key());
    const [client, tab] = [attached(app, id), attached(app, id)];
    app.clock.advance(301 * SECOND);
    client.say({ type: 'heartbeat' });
    expect(await client.hear()).toEqual({ type: 'state', state: 'idle' });
    expect(await client.hear()).toMatchObject({ type: 'ended', reason: 'idle_exceeded' });
    expect(tab.heard()).toMatchObject([
      { type: 'state', state: 'idle' },
      { type: 'ended', reason: 'idle_exceeded' },
    ]);
  });

  it('when the maximum duration is over, with the message for an end user', async () => {
    const app = await build({ env: { MAX_SESSION_MINUTES: '3' } });
    const client = attached(app, await app.open(await app.key()));
    app.clock.advance(3 * MINUTE + 1);
    await app.sweep();
    expect(client.heard()).toEqual([
      {
        type: 'ended',
        code: 'SESSION_DURATION_EXCEEDED',
        reason: 'duration_exceeded',
        userMessage: 'This conversation has reached its maximum length. Please start a new one.',
        maxMinutes: 3,
      },
    ]);
  });

  it('to every socket of the session and to no other', async () => {
    const app = await build();
    const key = await app.key();
    const [id, otherId] = [await app.open(key), await app.open(key)];
    const sockets = [attached(app, id), attached(app, id), attached(app, id)];
    const other = attached(app, otherId);
    const gone = sockets.pop();
    gone?.listener.closed(1006);
    await app.sessions.end(id, 'upstream_ended', app.clock.now());
    for (const socket of sockets) {
      expect(socket.heard()).toMatchObject([{ type: 'ended', reason: 'upstream_ended' }]);
      expect(socket.closeCode).toBe(4403);
    }
    expect(gone?.heard()).toEqual([]);
    expect(other.heard()).toEqual([]);
    expect(app.service.hub.attached).toBe(1);
  });

  it('when the widget key is revoked', async () => {
    const app = await build();
    const key = await app.key();
    const client = attached(app, await app.open(key));
    await app.sessions.endKey(key.tenantId, key.id, 'key_revoked', app.clock.now());
    expect(client.heard()).toMatchObject([{ type: 'ended', reason: 'key_revoked' }]);
  });

  it('when a usage report over HTTP crosses the ceiling of its subject', async () => {
    const app = await build({ env: { WIDGET_MAX_TOKENS_DAILY: '100' } });
    const [key, email] = [await app.key(), somebody()];
    const [one, two] = [await app.open(key, { email }), await app.open(key, { email })];
    const clients = [attached(app, one, email), attached(app, two, email)];
    const reply = await app.post('/api/auth/usage', { sm_session_id: one, email, tokens: 101, dollars: 0 });
    expect(reply.status).toBe(429);
    for (const client of clients) expect(client.heard()).toMatchObject([{ type: 'ended', reason: 'quota_exceeded' }]);
  });

  it('once to each socket, even if the same news comes twice', async () => {
    const app = await build();
    const id = await app.open(await app.key());
    const client = attached(app, id);
    for (const _ of [1, 2])
      app.live.bus.publish({ type: 'session.moved', sessionId: id, state: 'idle', endReason: null });
    expect(client.heard()).toEqual([{ type: 'state', state: 'idle' }]);
  });
});

describe('the end', () => {
  it('that a client asks for is told once on all sockets of the session', async () => {
    const app = await build();
    const id = await app.open(await app.key());
    const [client, tab] = [attached(app, id), attached(app, id)];
    client.say({ type: 'end' });
    client.say({ type: 'end' });
    expect(await client.hear()).toMatchObject({ type: 'ended', reason: 'closed_by_client' });
    expect(await tab.hear()).toMatchObject({ type: 'ended', reason: 'closed_by_client' });
    await new Promise(setImmediate);
    expect([...client.heard(), ...tab.heard()]).toEqual([]);
    expect([client.closeCode, tab.closeCode]).toEqual([4403, 4403]);
    expect([client.socket.closings, tab.socket.closings]).toEqual([1, 1]);
  });

  it('is not caused by losing a socket', async () => {
    const app = await build();
    const id = await app.open(await app.key());
    attached(app, id).listener.closed(1006);
    expect((await app.post('/api/realtime/heartbeat', { sm_session_id: id })).status).toBe(200);
    attached(app, id);
  });
});

describe('a node that shuts down', () => {
  it('tells every socket to connect elsewhere, and attached ones may do so', async () => {
    const app = await build();
    const id = await app.open(await app.key());
    const [client, fresh] = [attached(app, id), new ChannelClient(app)];
    app.service.hub.close();
    expect([client.closeCode, fresh.closeCode]).toEqual([1012, 1012]);
    const node = await build({ clock: app.clock, live: app.live });
    attached(node, id).say({ type: 'heartbeat' });
    app.live.bus.publish({ type: 'session.moved', sessionId: id, state: 'idle', endReason: null });
    expect(client.heard()).toEqual([]);
  });
});
