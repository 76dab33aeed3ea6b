import { describe, expect, it } from 'vitest';
import { SECOND } from '../support/clock.ts';
import { attached } from './client.ts';
import { useApps } from '../support/use-apps.ts';

const { build, database } = useApps();

describe('a heartbeat', () => {
  it('is answered at once, without a promise, with the session as it is now', async () => {
    const app = await build();
    const startedAt = new Date(app.clock.now()).toISOString();
    const client = attached(app, await app.open(await app.key()));
    app.clock.advance(12 * SECOND);
    client.say({ type: 'heartbeat', idleSec: 5, id: 7 });
    expect(client.heard()).toEqual([
      {
        type: 'heartbeat',
        id: 7,
        session: {
          active: true,
          startedAt,
          lastSeenAt: new Date(app.clock.now()).toISOString(),
          durationSec: 12,
          idleSec: 5,
        },
        state: 'engaged',
      },
    ]);
  });

  it.each([
    [0],
    [-3],
    [Number.MAX_SAFE_INTEGER],
    [''],
    ['a "quoted" \\ id'],
    ['žluť 🐎'],
    ['\u2028'],
    ['x'.repeat(255)],
  ])('gets its id %j back unchanged', async (id) => {
    const app = await build();
    const client = attached(app, await app.open(await app.key()));
    client.say({ type: 'heartbeat', id });
    expect(client.heard()).toMatchObject([{ type: 'heartbeat', id }]);
  });

  it('without an id is answered without one', async () => {
    const app = await build();
    const client = attached(app, await app.open(await app.key()));
    client.say({ type: 'heartbeat' });
    expect(client.heard()[0]).not.toHaveProperty('id');
  });

  it('may contain unknown fields, and the same field twice', async () => {
    const app = await build();
    const client = attached(app, await app.open(await app.key()));
    client.say({ type: 'heartbeat', id: 1, mood: ['good'], __proto__: null });
    client.say('{"type":"end","type":"heartbeat","idleSec":-1,"idleSec":2,"__proto__":{"type":"end"}}');
    expect(client.heard()).toMatchObject([
      { type: 'heartbeat', id: 1 },
      { type: 'heartbeat', session: { active: true } },
    ]);
  });

  it('is also visible over HTTP', async () => {
    const app = await build();
    const id = await app.open(await app.key());
    const client = attached(app, id);
    app.clock.advance(200 * SECOND);
    client.say({ type: 'heartbeat' });
    app.clock.advance(200 * SECOND);
    const reply = await app.post('/api/realtime/heartbeat', { sm_session_id: id });
    expect(reply).toMatchObject({ status: 200, body: { session: { idleSec: 0, durationSec: 400 } } });
  });

  it('is answered after the frames that came before it, however long these take', async () => {
    const app = await build();
    const client = attached(app, await app.open(await app.key()));
    client.say({ type: 'usage', tokens: 1, dollars: 0, id: 'a' });
    client.say({ type: 'heartbeat', id: 'b' });
    client.say({ type: 'usage', tokens: 1, dollars: 0, id: 'c' });
    client.say('nonsense');
    client.say({ type: 'heartbeat', id: 'd' });
    expect(client.heard()).toEqual([]);
    await expect.poll(() => client.socket.frames.length).toBe(6);
    expect(client.heard().map((frame) => ('id' in frame ? frame.id : frame.type))).toEqual([
      'a',
      'b',
      'c',
      'error',
      'd',
    ]);
    client.say({ type: 'heartbeat', id: 'e' });
    expect(client.heard()).toMatchObject([{ id: 'e' }]);
  });

  it('that rates its conversation is answered only if the rating is wrong or cannot be kept', async () => {
    const app = await build();
    const id = await app.open(await app.key());
    const client = attached(app, id);
    const rated = async () => (await app.service.stores.history.ratingsOf([id])).get(id);
    client.say({ type: 'rate', value: 2 });
    client.say({ type: 'rate', value: 4 });
    client.say({ type: 'heartbeat' });
    expect(await client.hear()).toMatchObject({ type: 'heartbeat' });
    expect(await rated()).toBe(4);
    client.say({ type: 'rate', value: 6 });
    expect(await client.hear()).toMatchObject({ type: 'error', code: 'INVALID_REQUEST' });
    database().isAway = true;
    client.say({ type: 'rate', value: 1 });
    expect(await client.hear()).toMatchObject({ type: 'error', code: 'SERVICE_UNAVAILABLE' });
    database().isAway = false;
    expect([await rated(), client.closeCode]).toEqual([4, undefined]);
  });

  it('after the end of its session is no longer answered', async () => {
    const app = await build();
    const client = attached(app, await app.open(await app.key()));
    client.say({ type: 'usage', tokens: 1, dollars: 0, id: 'a' });
    client.say({ type: 'end' });
    client.say({ type: 'heartbeat' });
    await expect.poll(() => client.closeCode).toBe(4403);
    await new Promise(setImmediate);
    expect(client.heard().map(({ type }) => type)).toEqual(['usage', 'ended']);
    expect(client.socket.closings).toBe(1);
  });

  it('that ends its session while the database is away is answered with an error, and with the end once that is kept', async () => {
    const app = await build();
    const id = await app.open(await app.key());
    const [client, other] = [attached(app, id), attached(app, id)];
    database().isAway = true;
    client.say({ type: 'end' });
    expect(await client.hear()).toMatchObject({ type: 'error', code: 'SERVICE_UNAVAILABLE' });
    // The other socket asked for nothing, so it need not wait until the end is stored.
    expect(await other.hear()).toMatchObject({ type: 'ended' });
    app.live.bus.publish({ type: 'session.moved', sessionId: id, state: 'ended', endReason: 'closed_by_client' });
    expect(client.heard()).toEqual([]);
    database().isAway = false;
    await app.flush();
    client.say({ type: 'end' });
    expect(await client.hear()).toMatchObject({ type: 'ended', reason: 'closed_by_client' });
    expect(client.closeCode).toBe(4403);
  });

  it('after an `end` that failed is told at once of an end for another reason', async () => {
    const app = await build();
    const id = await app.open(await app.key());
    const client = attached(app, id);
    database().isAway = true;
    client.say({ type: 'end' });
    expect(await client.hear()).toMatchObject({ type: 'error', code: 'SERVICE_UNAVAILABLE' });
    app.live.bus.publish({ type: 'session.moved', sessionId: id, state: 'ended', endReason: 'key_revoked' });
    expect(await client.hear()).toMatchObject({ type: 'ended', reason: 'key_revoked' });
    expect(client.closeCode).toBe(4403);
  });

  it('of an idle session ends it', async () => {
    const app = await build();
    const client = attached(app, await app.open(await app.key()));
    app.clock.advance(301 * SECOND);
    client.say({ type: 'heartbeat' });
    expect(await client.hear()).toEqual({ type: 'state', state: 'idle' });
    expect(await client.hear()).toMatchObject({ type: 'ended', reason: 'idle_exceeded' });
    expect(client.closeCode).toBe(4403);
    expect(client.heard()).toEqual([]);
  });

  it('finds its session again when the registry has lost everything', async () => {
    const app = await build();
    const id = await app.open(await app.key());
    const client = attached(app, id);
    await app.live.registry.remove(id);
    client.say({ type: 'heartbeat', id: 1 });
    expect(await client.hear()).toMatchObject({ type: 'heartbeat', id: 1 });
  });
});
