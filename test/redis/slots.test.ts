import * as fc from 'fast-check';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Unavailable } from '../../src/kernel/errors.ts';
import type { Promised } from '../../src/kernel/async.ts';
import { randomId } from '../../src/kernel/ids.ts';
import { openRedis, type Redis } from '../../src/redis/connection.ts';
import type { Slots } from '../../src/stores/slots/contract.ts';
import { createRedisSlots, type Holder } from '../../src/stores/slots/redis.ts';
import { atOnce, DAY_BEGIN } from '../contracts/support.ts';
import { reasonToSkipRedis, startRedis, startRedisCluster, type RedisService } from '../support/services/redis.ts';
import { atEach, operatorsOf } from './support.ts';

const LEASE_MS = 60_000;
const NODES = 4;
const WORKERS = 12;
const skipped = reasonToSkipRedis();

/** What PostgreSQL knows: the live sessions of each subject. */
class History {
  readonly #live = new Map<string, Set<string>>();
  asked = 0;

  insert(subject: string, holder: string): void {
    this.#live.set(subject, (this.#live.get(subject) ?? new Set()).add(holder));
  }

  end(subject: string, holder: string): void {
    this.#live.get(subject)?.delete(holder);
  }

  async holders(subject: string): Promise<Holder[]> {
    this.asked += 1;
    const holders = [...(this.#live.get(subject) ?? [])];
    await pause(0);
    return holders.map((holder) => ({ holder, leaseUntilMs: DAY_BEGIN + LEASE_MS }));
  }
}

describe.skipIf(skipped !== undefined)(`slots over several nodes ${skipped ?? ''}`, () => {
  describe('one server', () => {
    severalNodes(startRedis);
  });
  describe('a cluster of three', () => {
    severalNodes(startRedisCluster);
  });
});

function severalNodes(start: () => Promise<RedisService>): void {
  let service: RedisService;
  let connections: Redis[];
  let nodes: Promised<Slots>[];
  let history: History;
  let operators: Awaited<ReturnType<typeof operatorsOf>>;

  beforeAll(async () => {
    service = await start();
    operators = await operatorsOf(service);
    connections = Array.from({ length: NODES }, () =>
      openRedis({ urls: service.urls, prefix: 'switchboard', deadlineMs: 10_000 }),
    );
  });

  beforeEach(async () => {
    await atEach(service, ['FLUSHALL']);
    history = new History();
    nodes = connections.map((redis) =>
      createRedisSlots({ redis, keepMs: 10 * LEASE_MS, rebuild: (subject) => history.holders(subject) }),
    );
  });

  afterAll(async () => {
    for (const client of operators) client.destroy();
    await Promise.all(connections.map((redis) => redis.close()));
    await service.stop();
  });

  const node = (n: number): Promised<Slots> => nodes[n % NODES] as Promised<Slots>;
  const take = (n: number, subject: string, holder: string, limit: number) =>
    node(n).take(subject, holder, limit, DAY_BEGIN + LEASE_MS, DAY_BEGIN);

  test('sessions that Redis lost are counted before a take is answered', async () => {
    const subject = randomId();
    for (const holder of ['a', 'b']) {
      expect(await take(0, subject, holder, 3)).toBe(true);
      history.insert(subject, holder);
    }
    await service.flush();
    const admitted = await atOnce(64, (n) => take(n, subject, `new ${n}`, 3));
    expect(admitted.filter(Boolean)).toHaveLength(1);
    expect(await node(1).count(subject, DAY_BEGIN)).toBe(3);
  });

  test('the history is asked once per subject and loss, and a session that only renewed its slot proves nothing', async () => {
    const subject = randomId();
    history.insert(subject, 'a');
    history.insert(subject, 'b');
    await node(0).renew(subject, 'a', DAY_BEGIN + LEASE_MS);
    expect(await take(1, subject, 'c', 2)).toBe(false);
    expect(await take(2, subject, 'c', 3)).toBe(true);
    expect(history.asked).toBe(1);
  });

  test('what is lost while the history is read is read again', async () => {
    const subject = randomId();
    let reads = 0;
    const slots = createRedisSlots({
      redis: connections[0] as Redis,
      keepMs: LEASE_MS,
      async rebuild(of) {
        const holders = await history.holders(of);
        reads += 1;
        if (reads > 1) return holders;
        // Another node admits and records a session, and then Redis loses everything: the list just read is out of date.
        await take(1, subject, 'other', 1);
        history.insert(subject, 'other');
        await service.flush();
        return holders;
      },
    });
    expect(await slots.take(subject, 'mine', 1, DAY_BEGIN + LEASE_MS, DAY_BEGIN)).toBe(false);
    expect(reads).toBe(2);
  });

  test('sessions that were in the history, but not confirmed, when Redis lost them do not begin', async () => {
    const subject = randomId();
    expect(await take(0, subject, 'a', 1)).toBe(true);
    await service.flush();
    expect(await take(1, subject, 'b', 1)).toBe(true);
    history.insert(subject, 'a');
    history.insert(subject, 'b');
    await service.flush();
    expect(await take(2, subject, 'c', 1)).toBe(false);
    for (const [n, holder] of ['a', 'b'].entries()) {
      expect(await node(n).confirm(subject, holder, DAY_BEGIN + LEASE_MS)).toBe(false);
      history.end(subject, holder);
      await node(n).free(subject, holder);
    }
    expect(await take(2, subject, 'c', 1)).toBe(true);
    expect(await node(2).confirm(subject, 'c', DAY_BEGIN + LEASE_MS)).toBe(true);
  });

  test('a session that ended while it was counted again holds no slot', async () => {
    const subject = randomId();
    history.insert(subject, 'a');
    const slots = createRedisSlots({
      redis: connections[0] as Redis,
      keepMs: LEASE_MS,
      async rebuild(of) {
        const holders = await history.holders(of);
        history.end(subject, 'a');
        await node(1).free(subject, 'a');
        return holders;
      },
    });
    expect(await slots.take(subject, 'b', 1, DAY_BEGIN + LEASE_MS, DAY_BEGIN)).toBe(true);
  });

  test('takes are refused while Redis keeps losing everything', async () => {
    const slots = createRedisSlots({
      redis: connections[0] as Redis,
      keepMs: LEASE_MS,
      async rebuild() {
        await service.flush();
        return [];
      },
    });
    await expect(slots.take(randomId(), 'a', 1, DAY_BEGIN + LEASE_MS, DAY_BEGIN)).rejects.toThrow(Unavailable);
  });

  test('a fault of the history is reported, and the next take asks again', async () => {
    const subject = randomId();
    history.insert(subject, 'a');
    let isAway = true;
    const slots = createRedisSlots({
      redis: connections[0] as Redis,
      keepMs: LEASE_MS,
      rebuild: (of) => (isAway ? Promise.reject(new Unavailable('database')) : history.holders(of)),
    });
    const tryAgain = () => slots.take(subject, 'b', 1, DAY_BEGIN + LEASE_MS, DAY_BEGIN);
    await expect(tryAgain()).rejects.toMatchObject({ dependency: 'database' });
    isAway = false;
    expect(await tryAgain()).toBe(false);
  });

  test('however often Redis is emptied, sessions never exceed the limit', async () => {
    const ms = fc.nat(4);
    const lives = fc.array(fc.array(ms, { minLength: 8, maxLength: 8 }), { minLength: WORKERS, maxLength: WORKERS });
    let opened = 0;
    const scenario = fc.record({
      limit: fc.integer({ min: 1, max: 4 }),
      lives,
      losses: fc.array(fc.integer({ min: 2, max: 12 }), { minLength: 5 }),
    });
    await fc.assert(
      fc.asyncProperty(scenario, async ({ limit, lives, losses }) => {
        const subject = randomId();
        let live = 0;
        let most = 0;
        const workers = lives.map(async (lingers, worker) => {
          for (const linger of lingers) {
            if (!(await opens(worker, subject, limit))) continue;
            live += 1;
            most = Math.max(most, live);
            await pause(linger);
            live -= 1;
            await node(worker).free(subject, `h${worker}`);
            history.end(subject, `h${worker}`);
          }
        });
        await Promise.all([...workers, loses(losses)]);
        opened += most;
        expect(most).toBeLessThanOrEqual(limit);
      }),
      { numRuns: 30 },
    );
    expect(opened).toBeGreaterThan(0);
  });

  async function loses(gaps: readonly number[]): Promise<void> {
    for (const gap of gaps) {
      await pause(gap);
      await Promise.all(operators.map((client) => client.sendCommand(['FLUSHALL'])));
    }
  }

  /** Opens a session: takes a slot, mints, records the session, confirms the slot. */
  async function opens(n: number, subject: string, limit: number): Promise<boolean> {
    const holder = `h${n}`;
    const isTaken = await take(n, subject, holder, limit).catch((error: unknown) => {
      if (error instanceof Unavailable) return false;
      throw error;
    });
    if (!isTaken) return false;
    await pause(1);
    history.insert(subject, holder);
    if (await node(n).confirm(subject, holder, DAY_BEGIN + LEASE_MS)) return true;
    history.end(subject, holder);
    await node(n).free(subject, holder);
    return false;
  }
}
