import { describe, expect, test } from 'vitest';
import { Unavailable } from '../../src/kernel/errors.ts';
import { voiceRecord } from '../contracts/support.ts';
import { reasonToSkipRedis, startRedisCluster } from '../support/services/redis.ts';
import { faults } from './faults.ts';
import { faultOf } from './support.ts';
import { openNode } from './trouble.ts';

const skipped = reasonToSkipRedis();

describe.skipIf(skipped !== undefined)(`A Redis cluster of three in trouble ${skipped ?? ''}`, () => {
  const service = faults(startRedisCluster);

  test('one of three masters frozen before the first call: what belongs to the others is served', async () => {
    service().freeze(1);
    const node = openNode(service().urls);
    const ids = Array.from({ length: 100 }, () => voiceRecord().id);
    const ask = () => Promise.all(ids.map((id) => faultOf(() => node.registry.load(id))));
    const served = async () => (await ask()).filter((fault) => fault === undefined).length;
    await expect.poll(served).toBeGreaterThan(30);
    const faulted = (await ask()).filter((fault) => fault !== undefined);
    expect(faulted.length).toBeGreaterThan(0);
    expect(faulted.filter((fault) => !(fault instanceof Unavailable))).toEqual([]);
    service().thaw();
    await node.close();
  });
});
