import { describe, expect, it } from 'vitest';
import { dueAt } from '../../src/sessions/deadlines.ts';
import { systemClock } from '../../src/kernel/time.ts';
import { createInProcessStores } from '../../src/stores/in-process.ts';
import type { LiveStores } from '../../src/stores/contract.ts';
import { somebody } from '../support/app.ts';
import { SECOND } from '../support/clock.ts';
import { attached, ChannelClient } from './client.ts';
import { useApps } from '../support/use-apps.ts';

const { build, database } = useApps();
const limits = { maxMinutes: 15, maxIdleSec: 300, staleGraceSec: 3600, staleReapSec: 3600 };

/** Live stores whose registry answers a look-up only when the test lets it. */
function slowStores(): { readonly live: LiveStores; readonly letGo: () => void } {
  const live = createInProcessStores(dueAt(limits), systemClock, () => undefined);
  const waiting: (() => void)[] = [];
  let isSlow = false;
  const load: LiveStores['registry']['load'] = (id) => {
    // Reads now and answers later, as a remote registry does.
    const record = live.registry.load(id);
    if (!isSlow) return record;
    return new Promise((resolve) => waiting.push(() => resolve(record)));
  };
  return {
    live: {
      ...live,
      registry: { ...live.registry, load },
    },
    letGo() {
      isSlow = !isSlow;
      for (const go of waiting.splice(0)) go();
    },
  };
}

describe('attaching', () => {
  it('is answered with the session, its state, the interval of heartbeats and the limits', async () => {
    const app = await build();
    const client = new ChannelClient(app);
    client.say({ type: 'attach', sm_session_id: await app.open(await app.key()) });
    const startedAt = new Date(app.clock.now()).toISOString();
    expect(client.heard()).toEqual([
      {
        type: 'attached',
        session: { active: true, startedAt, lastSeenAt: startedAt, durationSec: 0, idleSec: 0 },
        state: 'engaged',
        heartbeat: { intervalSec: 45 },
        limits: { maxMinutes: 15, maxIdleSec: 300 },
      },
    ]);
    expect(app.service.hub.attached).toBe(1);
  });

  it('must come within five seconds, or the socket closes with 4401', async () => {
    const app = await build();
    const [silent, late] = [new ChannelClient(app), new ChannelClient(app)];
    app.clock.advance(4 * SECOND);
    app.service.hub.tick();
    expect(silent.closeCode).toBeUndefined();
    late.say({ type: 'attach', sm_session_id: await app.open(await app.key()) });
    app.clock.advance(SECOND);
    app.service.hub.tick();
    expect(silent.closeCode).toBe(4401);
    expect(late.closeCode).toBeUndefined();
  });

  it('is not delayed by other frames', async () => {
    const app = await build();
    const client = new ChannelClient(app);
    app.clock.advance(4 * SECOND);
    client.say({ type: 'heartbeat' });
    app.clock.advance(SECOND);
    app.service.hub.tick();
    expect(client.closeCode).toBe(4401);
  });

  it('closes alike with 4404 for an unknown session, a wrong address and a missing one', async () => {
    const app = await build();
    const named = await app.open(await app.key(), { email: somebody() });
    const attempts = [
      { sm_session_id: 'nonsense' },
      { sm_session_id: '' },
      { sm_session_id: `${named.slice(0, -1)}${named.endsWith('A') ? 'B' : 'A'}` },
      { sm_session_id: named },
      { sm_session_id: named, email: somebody() },
    ];
    for (const attempt of attempts) {
      const client = new ChannelClient(app);
      client.say({ type: 'attach', ...attempt });
      await expect.poll(() => client.socket.closed).toEqual({ code: 4404, reason: 'unknown session' });
      expect(client.heard()).toEqual([]);
    }
    expect(app.service.hub.attached).toBe(0);
  });

  it.each(['', null])('treats the address %j as missing', async (email) => {
    const app = await build();
    const key = await app.key();
    const client = new ChannelClient(app);
    client.say({ type: 'attach', sm_session_id: await app.open(key), email });
    expect(client.heard()).toMatchObject([{ type: 'attached' }]);
    const stranger = new ChannelClient(app);
    stranger.say({ type: 'attach', sm_session_id: await app.open(key, { email: somebody() }), email });
    await expect.poll(() => stranger.closeCode).toBe(4404);
  });

  it('accepts any spelling of the address, and needs none for a session without one', async () => {
    const app = await build();
    const email = somebody();
    attached(app, await app.open(await app.key(), { email }), ` ${email.toUpperCase()} `);
    attached(app, await app.open(await app.key()), somebody());
  });

  it('to a session that has ended says how it ended and closes with 4403', async () => {
    const app = await build();
    const id = await app.open(await app.key());
    await app.sessions.end(id, 'closed_by_operator', app.clock.now());
    const client = new ChannelClient(app);
    client.say({ type: 'attach', sm_session_id: id });
    expect(client.heard()).toMatchObject([
      { type: 'ended', code: 'SESSION_DURATION_EXCEEDED', reason: 'closed_by_operator', maxMinutes: 15 },
    ]);
    expect(client.closeCode).toBe(4403);
  });

  it('a second time is a bad frame, and the first session stays', async () => {
    const app = await build();
    const [one, other] = [await app.open(await app.key()), await app.open(await app.key())];
    const client = attached(app, one);
    client.say({ type: 'attach', sm_session_id: other });
    client.say({ type: 'heartbeat' });
    expect(client.heard()).toMatchObject([{ type: 'error', code: 'INVALID_REQUEST' }, { type: 'heartbeat' }]);
  });

  it('must come before every other frame', async () => {
    const app = await build();
    const client = new ChannelClient(app);
    client.say({ type: 'heartbeat' });
    client.say({ type: 'usage', tokens: 1, dollars: 0, id: 'x' });
    expect(client.heard()).toMatchObject([{ code: 'INVALID_REQUEST' }, { code: 'INVALID_REQUEST' }]);
    client.say({ type: 'attach', sm_session_id: await app.open(await app.key()) });
    expect(client.heard()).toMatchObject([{ type: 'attached' }]);
  });

  it('while the database is away leaves the socket open, with five more seconds to try again', async () => {
    const app = await build();
    const id = await app.open(await app.key());
    await app.flush();
    // A node that has just started, with an empty registry.
    const node = await build({ clock: app.clock });
    const client = new ChannelClient(node);
    app.clock.advance(4 * SECOND);
    database().isAway = true;
    client.say({ type: 'attach', sm_session_id: id });
    expect(await client.hear()).toMatchObject({ type: 'error', code: 'SERVICE_UNAVAILABLE' });
    database().isAway = false;
    app.clock.advance(4 * SECOND);
    node.service.hub.tick();
    client.say({ type: 'attach', sm_session_id: id });
    expect(await client.hear()).toMatchObject({ type: 'attached' });
  });

  it('misses no end that happens while the record is being read', async () => {
    const { live, letGo } = slowStores();
    const app = await build({ live });
    const id = await app.open(await app.key());
    letGo();
    const client = new ChannelClient(app);
    client.say({ type: 'attach', sm_session_id: id });
    live.bus.publish({ type: 'session.moved', sessionId: id, state: 'ended', endReason: 'key_revoked' });
    expect(client.heard()).toEqual([]);
    letGo();
    expect(await client.hear()).toMatchObject({ type: 'ended', reason: 'key_revoked' });
    expect(client.closeCode).toBe(4403);
  });

  it('misses no transition that happens while the record is being read, and reveals nothing to callers who may not know', async () => {
    const { live, letGo } = slowStores();
    const app = await build({ live });
    const id = await app.open(await app.key(), { email: somebody() });
    const nameless = await app.open(await app.key());
    letGo();
    const stranger = new ChannelClient(app);
    stranger.say({ type: 'attach', sm_session_id: id, email: somebody() });
    const client = new ChannelClient(app);
    client.say({ type: 'attach', sm_session_id: nameless });
    live.bus.publish({ type: 'session.moved', sessionId: id, state: 'ended', endReason: 'key_revoked' });
    live.bus.publish({ type: 'session.moved', sessionId: nameless, state: 'idle', endReason: null });
    letGo();
    expect(await client.hear()).toMatchObject({ type: 'attached', state: 'idle' });
    await expect.poll(() => stranger.closeCode).toBe(4404);
    expect(stranger.heard()).toEqual([]);
  });

  it('leaves nothing behind if the socket closes meanwhile', async () => {
    const { live, letGo } = slowStores();
    const app = await build({ live });
    const id = await app.open(await app.key());
    letGo();
    const client = new ChannelClient(app);
    client.say({ type: 'attach', sm_session_id: id });
    client.listener.closed(1006);
    letGo();
    await new Promise(setImmediate);
    expect(client.heard()).toEqual([]);
    expect(app.service.hub.attached).toBe(0);
  });
});
