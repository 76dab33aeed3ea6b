import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BusMessage } from '../../src/protocol/bus.ts';
import type { OperatorNode } from '../../src/protocol/operator/node.ts';
import { randomId } from '../../src/kernel/ids.ts';
import { openRedis, type Redis } from '../../src/redis/connection.ts';
import { createRedisBus, type RedisBus, type RedisBusDeps } from '../../src/stores/bus/redis.ts';
import { atEach } from './support.ts';
import { reasonToSkipRedis, startRedis, type RedisService } from '../support/services/redis.ts';

/** For this long after its start a node assumes that older builds may be running that it has not heard yet. */
const OLDER_MS = 15_000;

const skipped = reasonToSkipRedis();

describe.skipIf(skipped !== undefined)(`The bus of two nodes ${skipped ?? ''}`, () => {
  let service: RedisService;
  const opened: Redis[] = [];
  const buses: RedisBus[] = [];
  const faults: unknown[] = [];

  /** Time that tests advance by hand. */
  let nowMs = 0;

  function node(change: (redis: Redis) => RedisBusDeps['redis'] = (redis) => redis, deadlineMs = 10_000): RedisBus {
    const redis = openRedis({ urls: service.urls, prefix: 'switchboard', deadlineMs });
    const bus = createRedisBus({
      redis: change(redis),
      node: randomId(),
      onError: (error) => faults.push(error),
      now: () => nowMs,
    });
    opened.push(redis);
    buses.push(bus);
    return bus;
  }

  beforeAll(async () => {
    service = await startRedis();
  });
  afterAll(async () => {
    service.thaw();
    for (const bus of buses) await bus.close();
    for (const redis of opened) await redis.close();
    await service.stop();
  });

  test('tells the other nodes of a gap when a node that could not publish can do so again', async () => {
    const state = { isMute: true };
    const mute = node((redis) => ({
      ...redis,
      publish: (channel, text) => (state.isMute ? Promise.reject(new Error('cut off')) : redis.publish(channel, text)),
      listen: (...args) => redis.listen(...args),
    }));
    const other = node();
    for (const bus of [mute, other]) await expect.poll(() => bus.isConnected).toBe(true);
    let gaps = 0;
    other.onGap(() => (gaps += 1));
    mute.publish({ type: 'tenants.changed' });
    await expect.poll(() => faults).toHaveLength(1);
    expect(gaps).toBe(0);
    state.isMute = false;
    await expect.poll(() => gaps).toBe(1);
  });

  test('knows that it hears nothing while Redis is frozen, and reports the gap when Redis is back', async () => {
    const bus = node((redis) => redis, 2000);
    await expect.poll(() => bus.isConnected).toBe(true);
    let gaps = 0;
    bus.onGap(() => (gaps += 1));
    service.freeze();
    await expect.poll(() => bus.isConnected).toBe(false);
    expect(gaps).toBe(0);
    service.thaw();
    await expect.poll(() => gaps).toBe(1);
    expect(bus.isConnected).toBe(true);
  });

  /** Nodes that know that all of them follow sessions, and the messages about one session that each hears. */
  async function following(count: number) {
    const sessionId = `s:${randomId()}:${'A'.repeat(22)}`;
    const nodes = Array.from({ length: count }, () => node());
    const heard = nodes.map((bus) => {
      const texts: string[] = [];
      bus.subscribe((message, isOwn) => {
        if ('sessionId' in message && message.sessionId === sessionId && !isOwn) texts.push(message.type);
      });
      return texts;
    });
    for (const bus of nodes) await expect.poll(() => bus.isConnected).toBe(true);
    nowMs += OLDER_MS;
    return { sessionId, nodes, heard };
  }

  async function follow(bus: RedisBus | undefined, sessionId: string): Promise<void> {
    bus?.followed.add(sessionId);
    await expect.poll(() => bus?.followed.hears(sessionId)).toBe(true);
  }

  /** Sends every node a message and waits for it: by then all earlier messages about sessions have been heard, too. */
  async function sayToAll(nodes: readonly RedisBus[]): Promise<void> {
    const loginId = randomId();
    let left = nodes.length;
    const stops = nodes.map((bus) =>
      bus.subscribe((message) => {
        if (message.type === 'login.changed' && message.loginId === loginId) left -= 1;
      }),
    );
    nodes[0]?.publish({ type: 'login.changed', loginId });
    await expect.poll(() => left).toBe(0);
    for (const stop of stops) stop();
  }

  const told = (sessionId: string) => ({ type: 'call.told', sessionId, callId: 'c', event: 'speaking' }) as const;

  test.each([2, 4, 8])(
    'delivers what a call says only to the one other node with a socket of it, among %i nodes',
    async (count) => {
      const { sessionId, nodes, heard } = await following(count);
      await follow(nodes[1], sessionId);
      for (let n = 0; n < 10; n += 1) nodes[0]?.publish(told(sessionId));
      await sayToAll(nodes);
      await expect.poll(() => heard.flat().length).toBe(10);
      expect(heard[1]).toHaveLength(10);
    },
  );

  test('delivers nothing about a session that no other node follows, or no longer follows', async () => {
    const { sessionId, nodes, heard } = await following(3);
    await follow(nodes[0], sessionId);
    await follow(nodes[1], sessionId);
    nodes[1]?.followed.add(sessionId);
    nodes[1]?.followed.remove(sessionId);
    nodes[0]?.publish(told(sessionId));
    await expect.poll(() => heard[1]?.length).toBe(1);
    nodes[1]?.followed.remove(sessionId);
    expect(nodes[1]?.followed.hears(sessionId)).toBe(false);
    // Follows another session over the same connection on which it stopped following.
    await follow(nodes[1], `${sessionId}2`);
    nodes[0]?.publish(told(sessionId));
    await sayToAll(nodes);
    expect(heard.flat()).toHaveLength(1);
  });

  test('follows its sessions again when Redis comes back without them, and reports the gap once it hears of them', async () => {
    const { sessionId, nodes, heard } = await following(2);
    const [here, there] = nodes;
    await follow(there, sessionId);
    let gaps = 0;
    there?.onGap(() => (gaps += 1));
    await service.flush();
    await atEach(service, ['CLIENT', 'KILL', 'TYPE', 'pubsub']);
    await expect.poll(() => gaps).toBe(1);
    expect(there?.followed.hears(sessionId)).toBe(true);
    nowMs += OLDER_MS;
    await expect.poll(() => here?.isConnected).toBe(true);
    here?.publish(told(sessionId));
    await expect.poll(() => heard[1]).toEqual(['call.told']);
  });

  test('follows its sessions again when another node finds that Redis has lost what it held', async () => {
    const { sessionId, nodes, heard } = await following(3);
    const [here, there] = nodes;
    await follow(there, sessionId);
    let gaps = 0;
    there?.onGap(() => (gaps += 1));
    await service.flush();
    here?.noteLoss();
    await expect.poll(() => gaps).toBe(1);
    nowMs += OLDER_MS;
    here?.publish(told(sessionId));
    await sayToAll(nodes);
    await expect.poll(() => heard).toEqual([[], ['call.told'], []]);
  });

  test('follows a session as soon as Redis accepts that after a refusal, and reports the gap', async () => {
    const state = { isMute: true };
    const bus = node((redis) => ({
      ...redis,
      run: (tag, name, key, args) =>
        state.isMute ? Promise.reject(new Error('cut off')) : redis.run(tag, name, key, args),
    }));
    await expect.poll(() => bus.isConnected).toBe(true);
    let gaps = 0;
    bus.onGap(() => (gaps += 1));
    const sessionId = `s:${randomId()}:${'A'.repeat(22)}`;
    bus.followed.add(sessionId);
    expect(bus.followed.hears(sessionId)).toBe(false);
    state.isMute = false;
    await expect.poll(() => gaps).toBe(1);
    expect(bus.followed.hears(sessionId)).toBe(true);
  });

  test('tells all nodes about sessions while one of an older build is running, which follows none', async () => {
    const { sessionId, nodes } = await following(2);
    const [here] = nodes;
    const older: string[] = [];
    const redis = openRedis({ urls: service.urls, prefix: 'switchboard', deadlineMs: 10_000 });
    opened.push(redis);
    let isUp = false;
    const ear = redis.listen(
      'bus',
      'bus:older',
      (text) => void (text.includes(sessionId) && older.push(text)),
      () => (isUp = true),
    );
    await expect.poll(() => isUp).toBe(true);
    here?.publish(told(sessionId));
    await sayToAll(nodes);
    expect(older).toEqual([]);
    // Every build announces itself like this every five seconds; builds that follow sessions say so as well.
    const heard = once(here, 'node.here');
    await redis.publish('bus', randomId() + JSON.stringify({ type: 'node.here', node: olderNode }));
    await heard;
    here?.publish(told(sessionId));
    await expect.poll(() => older).toHaveLength(1);
    nowMs += OLDER_MS;
    here?.publish(told(sessionId));
    await sayToAll(nodes);
    expect(older).toHaveLength(1);
    await ear.close();
  });
});

/** Resolves when the node hears a message of this type. */
function once(bus: RedisBus | undefined, type: BusMessage['type']): Promise<void> {
  return new Promise((resolve) => {
    const stop = bus?.subscribe((message) => {
      if (message.type !== type) return;
      stop?.();
      resolve();
    });
  });
}

const olderNode: OperatorNode = {
  id: 'older',
  host: 'old',
  pid: 1,
  version: '0.0.9',
  startedAt: '2030-01-02T12:00:00.000Z',
  seenAt: '2030-01-02T12:00:00.000Z',
  loopP99Ms: 1,
  rss: 1,
  sockets: 0,
  historyWaiting: 0,
  eventsWaiting: 0,
  eventsDropped: 0,
  clockLeadMs: 0,
  configHash: '',
  dependencies: [],
};
