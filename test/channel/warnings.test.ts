import { describe, expect, it } from 'vitest';
import type { TestApp } from '../support/app.ts';
import { SECOND } from '../support/clock.ts';
import { attached, type ChannelClient } from './client.ts';
import { useApps } from '../support/use-apps.ts';

const { build } = useApps();

/** Lets seconds pass as the service does. @returns the frames that were heard, each with the second in which it came */
function pass(app: TestApp, client: ChannelClient, seconds: number): readonly unknown[] {
  const heard: unknown[] = [];
  for (let second = 1; second <= seconds; second += 1) {
    app.clock.advance(SECOND);
    app.service.hub.tick();
    heard.push(...client.heard().map((frame) => ({ second, ...frame })));
  }
  return heard;
}

describe('a warning', () => {
  it('of idleness comes once 60 and once 10 seconds before', async () => {
    const app = await build();
    const client = attached(app, await app.open(await app.key()));
    expect(pass(app, client, 300)).toEqual([
      { second: 241, type: 'warning', reason: 'idle', secondsLeft: 60 },
      { second: 291, type: 'warning', reason: 'idle', secondsLeft: 10 },
    ]);
  });

  it('of idleness comes again after new activity', async () => {
    const app = await build();
    const client = attached(app, await app.open(await app.key()));
    pass(app, client, 295);
    client.say({ type: 'heartbeat' });
    client.heard();
    expect(pass(app, client, 300)).toMatchObject([
      { second: 241, secondsLeft: 60 },
      { second: 291, secondsLeft: 10 },
    ]);
  });

  it('of idleness is not delayed by a tab whose heartbeats say that nobody speaks', async () => {
    const app = await build();
    const client = attached(app, await app.open(await app.key()));
    pass(app, client, 230);
    client.say({ type: 'heartbeat', idleSec: 230 });
    client.heard();
    expect(pass(app, client, 70)).toMatchObject([
      { second: 11, secondsLeft: 60 },
      { second: 61, secondsLeft: 10 },
    ]);
  });

  it('of the maximum duration comes 60 and 10 seconds before, even while somebody speaks', async () => {
    const app = await build({ env: { MAX_SESSION_MINUTES: '5' } });
    const client = attached(app, await app.open(await app.key()));
    pass(app, client, 200);
    client.say({ type: 'heartbeat' });
    client.heard();
    expect(pass(app, client, 45)).toEqual([{ second: 40, type: 'warning', reason: 'duration', secondsLeft: 60 }]);
    client.say({ type: 'heartbeat' });
    client.heard();
    expect(pass(app, client, 55)).toEqual([{ second: 45, type: 'warning', reason: 'duration', secondsLeft: 10 }]);
  });

  it('does not come if another page has sent a heartbeat', async () => {
    const app = await build();
    const id = await app.open(await app.key());
    const client = attached(app, id);
    pass(app, client, 200);
    await app.post('/api/realtime/heartbeat', { sm_session_id: id });
    expect(pass(app, client, 240)).toEqual([]);
    expect(pass(app, client, 1)).toMatchObject([{ secondsLeft: 60 }]);
  });

  it('tells a socket that attaches late how much time is left', async () => {
    const app = await build();
    const id = await app.open(await app.key());
    app.clock.advance(270 * SECOND);
    const client = attached(app, id);
    expect(pass(app, client, 1)).toMatchObject([{ reason: 'idle', secondsLeft: 30 }]);
  });

  it('of an end that is always near does not come with every heartbeat', async () => {
    const app = await build({ env: { MAX_SESSION_IDLE_SEC: '30' } });
    const client = attached(app, await app.open(await app.key()));
    expect(pass(app, client, 15)).toEqual([]);
    client.say({ type: 'heartbeat' });
    client.heard();
    expect(pass(app, client, 30)).toMatchObject([{ second: 21, secondsLeft: 10 }]);
  });

  it('no longer comes once the session has gone idle', async () => {
    const app = await build();
    const client = attached(app, await app.open(await app.key()));
    app.clock.advance(301 * SECOND);
    await app.sweep();
    expect(client.heard()).toEqual([{ type: 'state', state: 'idle' }]);
    expect(pass(app, client, 600)).toEqual([]);
  });
});
