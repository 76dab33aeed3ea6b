import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { reasonToSkipPostgres } from '../support/services/postgres.ts';
import { reasonToSkipRedis, startRedis, type RedisService } from '../support/services/redis.ts';
import { startSteppedRedis, type SteppedRedis } from '../support/services/stepped-redis.ts';
import { soon } from '../support/soon.ts';
import type { Switchboard } from '../support/switchboard.ts';
import type { World } from '../support/world.ts';
import { Page, seen, startCalls } from './calls-world.ts';

const reason = reasonToSkipPostgres() ?? reasonToSkipRedis();
const LIMIT = 3;

describe.skipIf(reason !== undefined)(`A Redis whose clock is set ${reason ?? ''}`, () => {
  let redis: RedisService;
  let stepped: SteppedRedis;
  let world: World;
  let nodes: readonly Switchboard[];

  beforeAll(async () => {
    redis = await startRedis();
    stepped = await startSteppedRedis(redis.url);
    world = await startCalls({
      REDIS_URL: stepped.url,
      HEARTBEAT_INTERVAL_SEC: '5',
      WIDGET_MAX_CONCURRENT_SESSIONS: String(LIMIT),
      DEBUG_METRICS: 'true',
    });
    nodes = [world.server, await world.startServer()];
  });

  afterAll(async () => {
    await world?.close();
    await stepped?.close();
    await redis?.stop();
  });

  /** How many seconds each node's time is ahead of Redis' time. */
  async function leads(): Promise<number[]> {
    const texts = await Promise.all(nodes.map(async ({ origin }) => (await fetch(`${origin}/metrics`)).text()));
    return texts.map((text) => Number(/^switchboard_clock_lead_seconds (\S+)$/m.exec(text)?.[1]));
  }

  test('causes no hang-up, no gap and no slot given twice, and every node learns of it', async () => {
    const page = new Page(() => nodes[0]?.origin ?? '', world.confidential);
    const talking = Array.from({ length: LIMIT }, () => page.at(() => nodes[0]?.origin ?? ''));
    const calls = [];
    for (const one of talking) calls.push(await one.call(world));

    for (const aheadSec of [20, -60, 60]) {
      stepped.aheadSec = aheadSec;
      await vi.waitFor(async () => {
        for (const lead of await leads()) expect(Math.abs(lead + aheadSec)).toBeLessThan(1);
      }, soon);
      for (const { origin } of nodes) {
        const refused = await page.at(() => origin).tryCreate();
        expect([refused.status, refused.body.code]).toEqual([429, 'MAX_CONCURRENT_SESSIONS']);
      }
    }

    expect(calls.map(({ ended, attached }) => [ended, attached])).toEqual(calls.map(() => [undefined, 1]));
    for (const one of talking) {
      expect((await one.post('/api/realtime/heartbeat', { idleSec: 0 })).status).toBe(200);
      expect((await seen(world, one)).calls).toMatchObject([{ state: 'open', gapSec: 0 }]);
    }
  });
});
