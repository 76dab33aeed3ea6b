import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, inject, test, vi } from 'vitest';
import { randomId } from '../../src/kernel/ids.ts';
import { PATIENT_MS, soon } from '../support/soon.ts';
import { embedded, siteKey, World } from '../support/world.ts';

const fullDisk = new URL('../support/full-disk.mjs', import.meta.url).href;
const SESSIONS = 200;

let world: World;

afterEach(() => world.close());

/** @returns a path: while a file exists there, the disk is full */
async function start(): Promise<string> {
  const flag = join(inject('runDirectory'), `full-${randomId()}`);
  world = await World.start({
    ...embedded,
    NODE_OPTIONS: `--import ${fullDisk}`,
    FULL_DISK: flag,
    WIDGET_SESSION_PER_MIN: '100000',
    WIDGET_MAX_CONCURRENT_SESSIONS: '100000',
  });
  return flag;
}

describe('While the disk of the embedded database is full', () => {
  test.each([
    ['its files cannot grow', 'growth'],
    ['its log finds no room', 'all'],
  ])(
    'so that %s, everything acknowledged survives a kill, and everything else is answered with 503',
    async (_, what) => {
      const flag = await start();
      const visitor = world.visitor();
      const post = (path: string, sm_session_id: string) => visitor.post(path, { sm_session_id });
      const open = () => visitor.post('/api/session', { widgetKey: siteKey, agentId: 'support' });
      const ids: string[] = [];
      for (let n = 0; n < SESSIONS; n += 1) ids.push((await open()).body.sm_session_id ?? '');

      await writeFile(flag, what);
      const acknowledged: string[] = [];
      let refused: string | undefined;
      for (const id of ids.slice(1)) {
        const { status, headers } = await post('/api/realtime/end', id);
        expect([200, 503]).toContain(status);
        if (status === 200) acknowledged.push(id);
        if (status !== 503) continue;
        expect(headers.get('retry-after')).not.toBeNull();
        refused = id;
        break;
      }
      expect(refused).toBeDefined();
      expect((await post('/api/realtime/heartbeat', ids[0] ?? '')).status).toBe(200);

      await world.server.end('SIGKILL');
      await rm(flag);
      await world.startServer();
      for (const id of acknowledged) expect((await post('/api/realtime/heartbeat', id)).status).toBe(403);
      expect((await post('/api/realtime/heartbeat', ids[0] ?? '')).status).toBe(200);
    },
    2 * PATIENT_MS,
  );

  test('the service keeps running, and accepts everything again once there is room', async () => {
    const flag = await start();
    const visitor = world.visitor();
    const open = () => visitor.post('/api/session', { widgetKey: siteKey, agentId: 'support' });
    const { sm_session_id } = (await open()).body;
    await writeFile(flag, 'all');
    await vi.waitFor(async () => expect((await open()).status).toBe(503), soon);
    expect((await visitor.post('/api/realtime/end', { sm_session_id })).status).toBe(503);
    const readiness = async (): Promise<number> => (await fetch(`${world.server.origin}/readyz`)).status;
    expect(await readiness()).toBe(503);
    await rm(flag);
    await vi.waitFor(
      async () => expect((await visitor.post('/api/realtime/end', { sm_session_id })).status).toBe(200),
      soon,
    );
    await vi.waitFor(async () => expect((await open()).status).toBe(200), soon);
    await vi.waitFor(async () => expect(await readiness()).toBe(200), soon);
    await world.restart('SIGKILL');
    expect((await visitor.post('/api/realtime/heartbeat', { sm_session_id })).status).toBe(403);
  });

  test('a start that fails because of it says so', async () => {
    const flag = await start();
    await writeFile(flag, 'all');
    await world.server.end('SIGKILL');
    await expect(world.startServer()).rejects.toThrow(
      /ended with 69 .*\n.* does not start, and its disk has 0 MB left/,
    );
    await rm(flag);
    await world.startServer();
  });
});
