import { describe, expect, it } from 'vitest';
import type { TestApp } from '../support/app.ts';
import { SECOND } from '../support/clock.ts';
import { useApps } from '../support/use-apps.ts';
import { attached, ChannelClient } from './client.ts';

const { build } = useApps();

/** What was noted about a session, newest first. */
async function notesOf(app: TestApp, id: string) {
  await app.service.journalWriter.flush();
  const { entries } = await app.service.stores.journal.list(
    { kinds: ['note'], tenants: '*', machine: 'voice-session', target: id.slice(0, 42) },
    undefined,
    200,
  );
  return entries.map(({ code, detail }) => ({ kind: code, ...detail }));
}

describe('what is noted about the sockets of a session', () => {
  it('is that one attached, and with which code it closed, each once', async () => {
    const app = await build();
    const id = await app.open(await app.key());
    const client = attached(app, id);
    client.listener.closed(1006);
    client.listener.closed(1006);
    expect(await notesOf(app, id)).toEqual([{ kind: 'detached', code: 1006 }, { kind: 'attached' }]);
  });

  it('is our own code if we close it', async () => {
    const app = await build();
    const id = await app.open(await app.key());
    const client = attached(app, id);
    await app.sessions.end(id, 'closed_by_operator', app.clock.now());
    client.listener.closed(client.closeCode ?? 0);
    expect(await notesOf(app, id)).toEqual([{ kind: 'detached', code: 4403 }, { kind: 'attached' }]);
  });

  it('is nothing about a socket that never attached, and nothing about heartbeats', async () => {
    const app = await build();
    const id = await app.open(await app.key());
    new ChannelClient(app).listener.closed(1001);
    const client = attached(app, id);
    for (let n = 0; n < 5; n += 1) client.say({ type: 'heartbeat' });
    expect(await notesOf(app, id)).toEqual([{ kind: 'attached' }]);
  });

  it('is each warning that was sent: for which limit, and how many seconds before', async () => {
    const app = await build();
    const id = await app.open(await app.key({ limits: { dailyTokens: 100 } }));
    attached(app, id);
    await app.post('/api/auth/usage', { sm_session_id: id, tokens: 90, dollars: 0 });
    for (let second = 0; second < 295; second += 1) {
      app.clock.advance(SECOND);
      app.service.hub.tick();
    }
    expect(await notesOf(app, id)).toEqual([
      { kind: 'warned', limit: 'idle', secondsLeft: 10 },
      { kind: 'warned', limit: 'idle', secondsLeft: 60 },
      { kind: 'warned', limit: 'quota', secondsLeft: null },
      { kind: 'attached' },
    ]);
  });
});
