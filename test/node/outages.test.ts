import { beforeEach, describe, expect, test } from 'vitest';
import { Unavailable } from '../../src/kernel/errors.ts';
import type { BusMessage } from '../../src/protocol/bus.ts';
import {
  createInProcessBus,
  type InProcessBus,
  createInProcessStores,
  createInProcessSlots,
} from '../../src/stores/in-process.ts';
import type { LiveStores } from '../../src/stores/contract.ts';
import type { NodeLeases } from '../../src/stores/slots/contract.ts';
import { dueAt } from '../../src/sessions/deadlines.ts';
import { attached } from '../channel/client.ts';
import { watch } from '../features/feed/watching.ts';
import { exchange, openBrokered, type Opened } from '../http/calls.ts';
import type { TestApp } from '../support/app.ts';
import { ManualClock, SECOND } from '../support/clock.ts';
import { FakeBrokeredProvider } from '../support/fake-brokered-provider.ts';
import { useApps } from '../support/use-apps.ts';

const { build, database } = useApps();
const limits = { maxMinutes: 60, maxIdleSec: 3600, staleGraceSec: 7200, staleReapSec: 60 };
const MAX_SOCKETS = 4;

/** Redis as two nodes see it: the bus, and the sockets' places, which belong to nodes that are alive. */
class SharedRedis {
  isAway = false;
  /** How many messages were published while it was away. */
  unsent = 0;
  readonly #clock: ManualClock;
  readonly #buses: InProcessBus[] = [];
  readonly #places = createInProcessSlots();
  readonly #aliveUntilMs = new Map<string, number>();
  readonly #held = new Set<string>();
  readonly sockets: NodeLeases;

  constructor(clock: ManualClock) {
    this.#clock = clock;
    const ask = <T>(work: () => T): T | Promise<never> =>
      this.isAway ? Promise.reject(new Unavailable('registry')) : work();
    this.sockets = {
      take: (subject, holder, limit, untilMs, at) =>
        ask(() => {
          const others = [...this.#held].filter((one) => (this.#aliveUntilMs.get(nodeOf(one)) ?? 0) > at);
          if (others.length >= limit) return false;
          this.#held.add(holder);
          return this.#places.take(subject, holder, 100, untilMs, at);
        }),
      renew: (subject, holder, untilMs) => ask(() => this.#places.renew(subject, holder, untilMs)),
      free: (subject, holder) =>
        ask(() => {
          this.#held.delete(holder);
          this.#places.free(subject, holder);
        }),
      count: (subject, at) => ask(() => this.#places.count(subject, at)),
      keepAlive: (node, untilMs) => ask(() => void this.#aliveUntilMs.set(node, untilMs)),
    };
  }

  /** The live stores of one more node. */
  connect(): LiveStores {
    const own = createInProcessBus();
    this.#buses.push(own);
    const publish = (message: BusMessage): void => {
      own.publish(message);
      if (this.isAway) this.unsent += 1;
      else for (const bus of this.#buses) if (bus !== own) bus.relay(message);
    };
    const isConnected = (): boolean => !this.isAway;
    return {
      ...createInProcessStores(dueAt(limits), this.#clock, () => undefined),
      sockets: this.sockets,
      bus: {
        publish,
        subscribe: (listener) => own.subscribe(listener),
        onGap: () => () => undefined,
        get isConnected() {
          return isConnected();
        },
      },
    };
  }
}

const nodeOf = (holder: string): string => holder.split(':')[1] ?? '';

describe('Whether another node is alive', () => {
  let clock: ManualClock;
  let redis: SharedRedis;
  let watched: TestApp;
  let asking: TestApp;
  let session: Opened;
  /** The last known owner of the call. */
  let owner: string | undefined;
  let running: TestApp[];

  beforeEach(async () => {
    clock = new ManualClock();
    redis = new SharedRedis(clock);
    const provider = new FakeBrokeredProvider();
    const env = { CALL_MODE: 'brokered', OPERATOR_EMAILS: 'ops@example.com', SIDEBAND_LOST_SEC: '60' };
    watched = await build({ brokered: provider, clock, live: redis.connect(), env });
    asking = await build({ brokered: provider, clock, live: redis.connect(), env });
    running = [watched, asking];
    owner = watched.service.heldCalls?.node;
    session = await openBrokered(watched, await watched.key());
    for (const { service } of running) {
      await service.heldCalls?.renewLease();
      await service.presence.beat();
    }
    expect((await exchange(watched, session)).status).toBe(201);
    for (let sockets = 0; sockets < MAX_SOCKETS; sockets += 1) attached(watched, session.id);
    await watch(watched, 'ops@example.com');
  });

  /** Runs what nodes do on their own in a second, first on the asking node. */
  async function passSecond(second: number): Promise<void> {
    clock.advance(SECOND);
    for (const { service } of running.toReversed()) {
      service.feed.tick();
      service.hub.tick();
      await service.heldCalls?.renewLease().catch(() => undefined);
      await service.heldCalls?.tick().catch(() => undefined);
      await service.heldCalls?.settled();
      if (second % 5 === 0) await service.presence.beat();
    }
  }

  /** Whether each part of the asking node takes the watched node for alive. */
  async function answers() {
    const { service } = asking;
    const place = redis.sockets.take(session.id, 'node:asking:1', MAX_SOCKETS, clock.now() + 1, clock.now());
    const isPlaceFree = await Promise.resolve(place).catch(() => false);
    owner = (await service.calls.ofSession(session.id).catch(() => []))[0]?.ownerNode ?? owner;
    if (isPlaceFree) await redis.sockets.free(session.id, 'node:asking:1');
    return {
      list: service.nodes.list().length === 2,
      feed: service.feed.isWanted('sessions'),
      calls: owner === watched.service.heldCalls?.node,
      sockets: !isPlaceFree,
    };
  }

  /** For each part, the seconds in which it takes the watched node for dead. */
  async function deadSeconds(seconds: number, change: (second: number) => unknown = () => undefined) {
    const dead: Record<string, number[]> = { list: [], feed: [], calls: [], sockets: [] };
    for (let second = 1; second <= seconds; second += 1) {
      await change(second);
      await passSecond(second);
      for (const [part, isAlive] of Object.entries(await answers())) if (!isAlive) dead[part]?.push(second);
    }
    return dead;
  }

  const from = (first: number, last: number): number[] =>
    Array.from({ length: Math.max(0, last - first + 1) }, (_, n) => first + n);

  test('is yes for all parts while nothing is away', async () => {
    expect(await deadSeconds(40)).toEqual({ list: [], feed: [], calls: [], sockets: [] });
  });

  test('is no once each has given it the time to speak, when it was killed', async () => {
    running = [asking];
    const dead = await deadSeconds(20);
    expect(dead).toEqual({ sockets: from(6, 20), calls: from(9, 20), list: from(16, 20), feed: from(16, 20) });
  });

  test('is no for all parts at once when it stops', async () => {
    watched.service.hub.close();
    watched.service.feed.close();
    await watched.service.heldCalls?.stop();
    await watched.service.presence.leave();
    running = [asking];
    const all = from(1, 20);
    expect(await deadSeconds(20)).toEqual({ list: all, feed: all, calls: all, sockets: all });
  });

  test('is yes while Redis is away and the database says that it lives', async () => {
    redis.isAway = true;
    const dead = await deadSeconds(60, (second) => {
      if (second === 50) redis.isAway = false;
    });
    expect(dead).toMatchObject({ list: [], calls: [] });
  });

  test('is no five seconds after the database came back, when it was killed meanwhile', async () => {
    database().isAway = true;
    const dead = await deadSeconds(20, (second) => {
      if (second === 5) running = [asking];
      if (second === 10) database().isAway = false;
    });
    expect(dead['calls']).toEqual(from(15, 20));
  });

  test('is yes for whoever takes calls over when Redis and the database were away together, and nobody was heard', async () => {
    redis.isAway = true;
    database().isAway = true;
    const dead = await deadSeconds(40, (second) => {
      if (second === 20) redis.isAway = database().isAway = false;
    });
    expect(dead['calls']).toEqual([]);
  });

  test('is told by nothing that cannot get out, which would be counted as a gap', async () => {
    redis.isAway = true;
    redis.unsent = 0;
    await deadSeconds(10);
    expect(redis.unsent).toBe(0);
  });

  test.each([5, 10, 20])('is yes when the database comes back after %i seconds', async (seconds) => {
    database().isAway = true;
    const dead = await deadSeconds(seconds + 20, (second) => {
      if (second === seconds) database().isAway = false;
    });
    expect(dead).toEqual({ list: [], feed: [], calls: [], sockets: [] });
  });
});
