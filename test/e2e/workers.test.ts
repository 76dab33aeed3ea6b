import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'undici';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { findBinary } from '../support/services/binaries.ts';
import { neededDatabase, type FreshDatabase } from '../support/services/fresh-database.ts';
import { reasonToSkipPostgres } from '../support/services/postgres.ts';
import { reasonToSkipRedis, startRedis, type RedisService } from '../support/services/redis.ts';
import { freePort } from '../support/services/server-process.ts';
import { soon } from '../support/soon.ts';
import { runToEnd } from '../support/switchboard.ts';
import { site, siteKey, World } from '../support/world.ts';

/** A draining server closes a connection that has had no request for this long. */
const idleMs = 250;
const create = { widgetKey: siteKey, agentId: 'support' };
const reason = reasonToSkipPostgres() ?? reasonToSkipRedis();

let database: FreshDatabase;
let redis: RedisService;
let world: World | undefined;

async function startWorld(environment: Readonly<Record<string, string>> = {}): Promise<World> {
  return World.start({
    // Not 0: between the parent's check and the first worker's listening an outgoing connection could take the port.
    PORT: String(await freePort()),
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    WORKERS: '3',
    WIDGET_SESSION_PER_MIN: '1000',
    WIDGET_MAX_CONCURRENT_SESSIONS: '1000',
    ...environment,
  });
}

function workersOf(parent: number): readonly number[] {
  try {
    const pids = execFileSync(findBinary('pgrep', 'procps'), ['-P', String(parent)], { encoding: 'utf8' });
    return pids.trim().split('\n').map(Number);
  } catch {
    return [];
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A zombie still takes signals but is dead.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

describe.skipIf(reason !== undefined)(
  `Several workers on one port${reason === undefined ? '' : ` (${reason})`}`,
  () => {
    beforeAll(async () => {
      [database, redis] = await Promise.all([neededDatabase(), startRedis()]);
    });

    afterEach(async () => {
      await world?.close();
      world = undefined;
    });

    afterAll(() => Promise.all([database.drop(), redis.stop()]));

    test('start with one message and serve a session in whichever process its requests reach', async () => {
      world = await startWorld();
      expect(workersOf(world.server.pid)).toHaveLength(3);
      expect(world.printed().match(/Switchboard is ready/g)).toHaveLength(1);
      const visitor = world.visitor();
      const opened = await visitor.post('/api/session', create);
      expect(opened.status, opened.text).toBe(200);
      const { sm_session_id } = opened.body;
      // A new connection for each request, so that every worker gets some. Retried, as clients do, because a worker's Redis may be late.
      const beat = (): Promise<void> =>
        vi.waitFor(async () => {
          const { status, text } = await visitor.post(
            '/api/realtime/heartbeat',
            { sm_session_id },
            { Connection: 'close' },
          );
          expect(status, text).toBe(200);
        }, soon);
      await Promise.all(Array.from({ length: 30 }, beat));
    });

    test('finish the replies under way on SIGTERM and exit with 0', async () => {
      world = await startWorld();
      world.provider.delayMs = 1500;
      const visitor = world.visitor();
      const pending = Array.from({ length: 9 }, () => visitor.post('/api/session', create));
      await vi.waitFor(() => expect(world?.provider.requests).toHaveLength(9), soon);
      const workers = workersOf(world.server.pid);
      const ending = await world.server.end('SIGTERM');
      expect(ending).toMatchObject({ code: 0, signal: null });
      for (const reply of await Promise.all(pending)) expect(reply).toMatchObject({ status: 200 });
      expect(workers.filter(isAlive)).toEqual([]);
    });

    test('are replaced when one is killed', async () => {
      world = await startWorld();
      const { pid } = world.server;
      const [victim = 0] = workersOf(pid);
      process.kill(victim, 'SIGKILL');
      await vi.waitFor(() => {
        const workers = workersOf(pid);
        expect(workers).toHaveLength(3);
        expect(workers).not.toContain(victim);
      }, soon);
      await vi.waitFor(() => expect(world?.printed()).toContain('"worker.ended"'), soon);
      expect(await world.person().get('/healthz')).toMatchObject({ status: 200 });
    });

    test('end when the parent is killed', async () => {
      world = await startWorld();
      const workers = workersOf(world.server.pid);
      await world.server.end('SIGKILL');
      await vi.waitFor(() => expect(workers.filter(isAlive)).toEqual([]), soon);
    });

    test('are all replaced on SIGHUP under load, and no accepted request fails', async () => {
      world = await startWorld();
      const { pid } = world.server;
      const before = workersOf(pid);
      const { sm_session_id } = (await world.visitor().post('/api/session', create)).body;
      const { origin } = world.server;
      const over = new AbortController();
      const outcomes = new Map<string, number>();
      // Each client has its own connection: in a shared pool one may lie unused, and the server closes unused ones.
      const beat = async (pipelining: 0 | 1): Promise<void> => {
        const client = new Client(origin, { pipelining });
        let lastBeganAt = performance.now();
        while (!over.signal.aborted) {
          const usedAt = pipelining === 0 ? performance.now() : lastBeganAt;
          lastBeganAt = performance.now();
          const outcome = await client
            .request({
              method: 'POST',
              path: '/api/realtime/heartbeat',
              headers: { Origin: site, 'Content-Type': 'application/json' },
              body: JSON.stringify({ sm_session_id }),
            })
            .then(
              async ({ statusCode, body }) => {
                await body.dump();
                return String(statusCode);
              },
              (error: unknown) => lost(error, performance.now() - usedAt),
            );
          outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
          await delay(20);
        }
        await client.close();
      };
      const load = [beat(1), beat(1), beat(1), beat(0)];
      await vi.waitFor(() => expect(outcomes.get('200')).toBeGreaterThan(50), soon);
      process.kill(pid, 'SIGHUP');
      await vi.waitFor(() => expect(world?.printed()).toContain('"workers.replaced"'), soon);
      over.abort();
      await Promise.all(load);
      // Each listener closes once, and each client makes one connection at a time (docs/operations.md: what remains of a drain).
      expect(outcomes.get('never accepted') ?? 0).toBeLessThanOrEqual(before.length * load.length);
      for (const allowed of ['never accepted', 'idle']) outcomes.delete(allowed);
      expect([...outcomes.keys()]).toEqual(['200']);
      const after = workersOf(pid);
      expect(after).toHaveLength(3);
      expect(after.filter((worker) => before.includes(worker))).toEqual([]);
    });

    test('say in words that the port is taken', async () => {
      const other = createServer().listen(0, '127.0.0.1');
      await once(other, 'listening');
      const { port } = other.address() as AddressInfo;
      const environment = { WORKERS: '2', DATABASE_URL: database.url, REDIS_URL: redis.url, PORT: String(port) };
      const { code, stderr } = await runToEnd(['serve'], environment);
      other.close();
      expect(stderr).toContain(`Cannot listen on 127.0.0.1 port ${port}`);
      expect(code).toBe(1);
    });
  },
);

describe('WORKERS above 1', () => {
  test('requires the stores that processes share, and says so', async () => {
    const { code, stderr } = await runToEnd(['serve'], { WORKERS: '2' });
    expect(code).toBe(78);
    expect(stderr).toContain('DATABASE_URL: is missing and more than one of WORKERS need it');
    expect(stderr).toContain('REDIS_URL: is missing and more than one of WORKERS need it');
  });

  test('is what starts workers: the command `worker` alone is refused', async () => {
    const { code, stderr } = await runToEnd(['worker'], {});
    expect(code).toBe(64);
    expect(stderr).toContain('set WORKERS');
  });
});

/** Why a request got no reply: one of the two reasons that a drain cannot prevent (docs/operations.md), or the error as text. */
function lost(error: unknown, unusedMs: number): string {
  const { code, syscall } = error as NodeJS.ErrnoException;
  // The kernel reset the connection while it was being made: nothing was sent on it, and a retry reaches another listener.
  if (code === 'ECONNRESET' && syscall === 'connect') return 'never accepted';
  // A client on a machine that gives it no time looks idle to the server.
  const closed = code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE';
  return closed && unusedMs >= idleMs ? 'idle' : String(error);
}
