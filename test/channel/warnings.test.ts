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
  it('of idleness comes 60 and 10 seconds before, and no more than once', async () => {
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

  it('of idleness is not put off by a tab that beats and says that nobody speaks', async () => {
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

  it('of the maximum duration comes 60 and 10 seconds before, whatever is said meanwhile', async () => {
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

  it('does not come when somebody has beaten elsewhere', async () => {
    const app = await build();
    const id = await app.open(await app.key());
    const client = attached(app, id);
    pass(app, client, 200);
    await app.post('/api/realtime/heartbeat', { sm_session_id: id });
    expect(pass(app, client, 240)).toEqual([]);
    expect(pass(app, client, 1)).toMatchObject([{ secondsLeft: 60 }]);
  });

  it('tells what is left to a socket that attaches late', async () => {
    const app = await build();
    const id = await app.open(await app.key());
    app.clock.advance(270 * SECOND);
    const client = attached(app, id);
    expect(pass(app, client, 1)).toMatchObject([{ reason: 'idle', secondsLeft: 30 }]);
  });

  it('of an end that is never further away than its notice does not come with every heartbeat', async () => {
    const app = await build({ env: { MAX_SESSION_IDLE_SEC: '30' } });
    const client = attached(app, await app.open(await app.key()));
    expect(pass(app, client, 15)).toEqual([]);
    client.say({ type: 'heartbeat' });
    client.heard();
    expect(pass(app, client, 30)).toMatchObject([{ second: 21, secondsLeft: 10 }]);
  });

  it('is over when the session has gone idle', async () => {
    const app = await build();
    const client = attached(app, await app.open(await app.key()));
    app.clock.advance(301 * SECOND);
    await app.sweep();
    expect(client.heard()).toEqual([{ type: 'state', state: 'idle' }]);
    expect(pass(app, client, 600)).toEqual([]);
  });
});
