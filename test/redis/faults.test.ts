import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Unavailable } from '../../src/kernel/errors.ts';
import { randomId } from '../../src/kernel/ids.ts';
import { voiceRecord } from '../contracts/support.ts';
import { startWay } from '../database/support/way.ts';
import { reasonToSkipRedis, startRedis, type RedisService } from '../support/services/redis.ts';
import { faults } from './faults.ts';
import { atEach, faultOf, operatorsOf, recoveryOf, startProxy, type Proxy } from './support.ts';
import {
  calls,
  expectRecovery,
  expectRefused,
  expectServed,
  expectServedAtOnce,
  keepAsking,
  openNode,
  PATIENT,
  type Node,
} from './trouble.ts';

const skipped = reasonToSkipRedis();

describe.skipIf(skipped !== undefined)(`Redis in trouble ${skipped ?? ''}`, () => {
  describe('one server', () => {
    faults(startRedis);
  });
  describe('a bad connection to the server', () => {
    badWay();
  });

  test('made a replica while its name leads to another server: writes go there', async () => {
    const [old, next] = [await startRedis(), await startRedis()];
    const way = await startWay(old.url);
    const node = openNode([way.url]);
    const write = () => node.registry.insert(voiceRecord());
    await recoveryOf(write);
    await atEach(old, ['REPLICAOF', '127.0.0.1', new URL(next.url).port]);
    way.lead(next.url);
    await recoveryOf(write);
    await node.close();
    await way.close();
    await Promise.all([old.stop(), next.stop()]);
  });
});

function badWay(): void {
  let service: RedisService;
  let proxy: Proxy;
  let node: Node;

  beforeEach(async () => {
    service = await startRedis();
    proxy = await startProxy(service.url);
    node = openNode([proxy.url]);
    await expectServed(node);
  });

  afterEach(async () => {
    await node.close();
    await proxy.close();
    await service.stop();
  });

  test('slow, but not too slow: served', async () => {
    proxy.delayMs = 100;
    const patient = openNode([proxy.url], PATIENT);
    await expectServedAtOnce(patient);
    await patient.close();
  });

  test('too slow: refused, and served again when it is fast again', async () => {
    proxy.delayMs = 2000;
    await expectRefused(node);
    proxy.delayMs = 0;
    await expectRecovery(node);
  });

  test('cut again and again under load: every call is answered, and the queue empties', async () => {
    const stop = keepAsking(node);
    for (let round = 0; round < 20; round += 1) {
      await pause(50);
      proxy.cut();
    }
    await expectRecovery(node);
    await stop();
    expect(node.redis.pending).toBe(0);
  });

  test('the queue is bounded: more calls are refused at once', async () => {
    const narrow = openNode(service.urls, { maxPending: 1000 });
    await recoveryOf(() => narrow.redis.probe());
    service.freeze();
    const asked = Array.from({ length: 5000 }, () => faultOf(() => narrow.registry.load(`s:${randomId()}:a`)));
    expect(narrow.redis.pending).toBe(1000);
    const reasons = (await Promise.all(asked)).map((fault) => String((fault as Unavailable).cause));
    expect(reasons.filter((reason) => reason.includes('too much waits'))).toHaveLength(4000);
    expect(narrow.redis.pending).toBe(0);
    service.thaw();
    await expectRecovery(narrow);
    await narrow.close();
  });

  test.each([
    ['has no room for another client', ['maxclients', '1'], ['maxclients', '1000']],
    ['wants a password', ['requirepass', 'secret'], ['requirepass', '']],
  ])('a server that %s: refused, and served when it is put right', async (_what, begin, undo) => {
    const [operator] = await operatorsOf(service);
    await operator?.sendCommand(['CONFIG', 'SET', ...begin]);
    const late = openNode(service.urls);
    await expectRefused(late);
    await operator?.sendCommand(['CONFIG', 'SET', ...undo]);
    await expectRecovery(late);
    await late.close();
    operator?.destroy();
  });

  test('closed: refused, and nothing hangs', async () => {
    service.freeze();
    const asked = calls(node).map(faultOf);
    await pause(50);
    await node.close();
    for (const fault of await Promise.all(asked)) expect(fault).toBeInstanceOf(Unavailable);
    await expectRefused(node);
    service.thaw();
  });
}
