import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { Unavailable } from '../../src/kernel/errors.ts';
import { randomId } from '../../src/kernel/ids.ts';
import { DAY_BEGIN, voiceRecord } from '../contracts/support.ts';
import type { RedisService } from '../support/services/redis.ts';
import { atEach, faultOf, recoveryOf } from './support.ts';
import {
  expectRecovery,
  expectRefused,
  expectServed,
  expectServedAtOnce,
  keepAsking,
  openNode,
  PATIENT,
  type Node,
} from './trouble.ts';

/** Tests that hold for a single server and for a cluster. @returns the service, once the tests run */
export function faults(start: () => Promise<RedisService>): () => RedisService {
  let service: RedisService;
  let node: Node;

  beforeAll(async () => {
    service = await start();
  });

  beforeEach(async () => {
    node = openNode(service.urls);
    await recoveryOf(() => node.redis.probe());
    await service.flush();
  });

  afterEach(async () => {
    service.thaw();
    await node.close();
  });

  afterAll(() => service.stop());

  test('frozen: calls are refused even under load, and served again once it is back', async () => {
    await expectServed(node);
    const stop = keepAsking(node);
    service.freeze();
    await expectRefused(node);
    await pause(1500);
    await expectRefused(node);
    service.thaw();
    await expectRecovery(node);
    await stop();
    expect(node.redis.pending).toBe(0);
  });

  test('frozen while more and more calls arrive: each is refused, and none waits for the others', async () => {
    service.freeze();
    const asked: Promise<unknown>[] = [];
    for (let n = 0; n < 200; n += 1) {
      asked.push(faultOf(() => node.registry.load(voiceRecord().id)));
      await pause(10);
    }
    expect((await Promise.all(asked)).filter((fault) => !(fault instanceof Unavailable))).toEqual([]);
  });

  test('killed and restarted: every call is answered, and served again once it is back', async () => {
    await expectServed(node);
    const stop = keepAsking(node);
    await service.restart();
    await expectRecovery(node);
    await stop();
  });

  test('connections cut by the server: the next calls are served', async () => {
    await expectServed(node);
    for (let round = 0; round < 5; round += 1) {
      await atEach(service, ['CLIENT', 'KILL', 'TYPE', 'normal']);
      await atEach(service, ['CLIENT', 'KILL', 'TYPE', 'pubsub']);
      await expectRecovery(node);
    }
  });

  test('a process that was stopped keeps its connections: answers that arrived meanwhile are read first', async () => {
    const listeners = async () => {
      const lists = await atEach(service, ['CLIENT', 'LIST', 'TYPE', 'pubsub']);
      return lists.flatMap((list) => String(list).match(/\bid=\d+/g) ?? []);
    };
    await expect.poll(listeners).toHaveLength(1);
    const before = await listeners();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2000);
    await expectServed(node);
    expect(await listeners()).toEqual(before);
  });

  test('scripts forgotten: calls are served as before', async () => {
    const patient = openNode(service.urls, PATIENT);
    await expectServedAtOnce(patient);
    const stop = keepAsking(patient);
    for (let round = 0; round < 5; round += 1) {
      await atEach(service, ['SCRIPT', 'FLUSH']);
      await expectServedAtOnce(patient);
    }
    await stop();
    await patient.close();
  });

  test('emptied: the data is gone, and everything works', async () => {
    const record = voiceRecord();
    await node.registry.insert(record);
    await service.flush();
    expect(await node.registry.load(record.id)).toBeUndefined();
    expect(await node.registry.ofSubject(record.subject)).toEqual([]);
    expect(await node.registry.save({ ...record, version: 2 }, 1)).toBe(false);
    expect(node.registry.recall(record.id)).toBeUndefined();
    expect(await node.registry.insert(record)).toBe(true);
    await expectServed(node);
  });

  test('windows go on in this process and come back by themselves, reporting each once per outage', async () => {
    const take = () => node.windows.take('192.0.2.1', 100, DAY_BEGIN);
    expect(await take()).toMatchObject({ remaining: 99 });
    for (let outage = 1; outage <= 2; outage += 1) {
      service.freeze();
      for (let n = 0; n < 5; n += 1) {
        expect((await take()).allowed).toBe(true);
      }
      service.thaw();
      await recoveryOf(() => node.redis.probe());
      await take();
      expect(node.told).toEqual(Array.from({ length: outage }, () => ['local', 'shared']).flat());
    }
  });

  test('windows that go on in this process count together, whether a request can wait or not', async () => {
    const key = randomId();
    service.freeze();
    const allowed = [
      node.windows.takeAtOnce(key, 2, DAY_BEGIN),
      await node.windows.take(key, 2, DAY_BEGIN),
      node.windows.takeAtOnce(key, 2, DAY_BEGIN),
    ].map((count) => count.allowed);
    service.thaw();
    expect(allowed).toEqual([true, true, false]);
  });

  test('the bus goes on in this process, and hears the other nodes again after a loss', async () => {
    const other = openNode(service.urls);
    const heard: string[] = [];
    node.bus.subscribe((message) => {
      if (message.type === 'login.changed') heard.push(message.loginId);
    });
    await hears(other, heard, 'before');

    service.freeze();
    node.bus.publish({ type: 'login.changed', loginId: 'mine' });
    expect(heard).toContain('mine');
    await pause(2000);
    service.thaw();
    await hears(other, heard, 'thawed');

    await service.restart();
    await hears(other, heard, 'restarted');
    await other.close();
  });

  async function hears(other: Node, heard: readonly string[], loginId: string): Promise<void> {
    while (!heard.includes(loginId)) {
      other.bus.publish({ type: 'login.changed', loginId });
      await pause(20);
    }
  }

  test('invalid messages on the channel are ignored', async () => {
    const heard: unknown[] = [];
    node.bus.subscribe((message) => heard.push(message));
    const stranger = randomId();
    const bad = ['', 'x', `${stranger}{`, `${stranger}null`, `${stranger}{"type":"toString"}`];
    for (const text of [...bad, `${stranger}{"type":"login.changed","loginId":1}`])
      await node.redis.publish('bus', text);
    while (heard.length === 0) {
      await node.redis.publish('bus', `${stranger}{"type":"tenants.changed"}`);
      await pause(20);
    }
    expect(heard[0]).toEqual({ type: 'tenants.changed' });
  });
  return () => service;
}
