import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MAX_SOCKETS, SocketLimits, SocketLeases } from '../../src/channel/socket-limits.ts';
import { randomId } from '../../src/kernel/ids.ts';
import { NodeLease } from '../../src/node/lease.ts';
import { openRedis, type Redis } from '../../src/redis/connection.ts';
import { createRedisLeases } from '../../src/stores/slots/redis.ts';
import { DAY_BEGIN } from '../contracts/support.ts';
import { ManualClock, SECOND } from '../support/clock.ts';
import { reasonToSkipRedis, startRedis, startRedisCluster, type RedisService } from '../support/services/redis.ts';

const skipped = reasonToSkipRedis();
/** A node that is silent for this long counts as gone (docs/operations.md). */
const GONE_MS = 6 * SECOND;
const noCalls = (): Promise<never> => Promise.reject(new Error('this node holds no calls'));

describe.skipIf(skipped !== undefined)(`the places of sockets over several nodes ${skipped ?? ''}`, () => {
  describe('one server', () => {
    severalNodes(startRedis);
  });
  describe('a cluster of three', () => {
    severalNodes(startRedisCluster);
  });
});

function severalNodes(start: () => Promise<RedisService>): void {
  let service: RedisService;
  let redis: Redis;

  beforeAll(async () => {
    service = await start();
    redis = openRedis({ urls: service.urls, prefix: 'switchboard', deadlineMs: 10_000 });
  });
  afterAll(async () => {
    await redis.close();
    await service.stop();
  });

  const makeNode = (): SocketLeases => {
    const limits = new SocketLimits({ sockets: MAX_SOCKETS, burst: 1, perMinute: 1 }, DAY_BEGIN);
    const onError = (error: unknown): void => {
      throw error;
    };
    const leases = createRedisLeases(redis, 'sockets');
    const nodeLease = new NodeLease({
      node: randomId(),
      sockets: leases,
      calls: { renew: noCalls, leave: noCalls, hasOther: noCalls },
      nodes: { noteLeases: () => undefined },
      clock: new ManualClock(),
      onError,
    });
    return new SocketLeases(nodeLease, limits, leases, onError);
  };
  const makeSession = (): string => `s:${randomId()}:${randomId()}`;

  async function take(node: SocketLeases, session: string, count: number, at: number): Promise<void> {
    for (let sockets = 0; sockets < count; sockets += 1) expect(await node.take(session, at)).toBeDefined();
  }

  test('places of a node that dies are free after six seconds, and not before', async () => {
    const [dead, alive, session] = [makeNode(), makeNode(), makeSession()];
    await take(dead, session, MAX_SOCKETS, DAY_BEGIN);
    expect(await alive.take(session, DAY_BEGIN + GONE_MS - 1)).toBeUndefined();
    await take(alive, session, MAX_SOCKETS, DAY_BEGIN + GONE_MS);
    expect(await makeNode().take(session, DAY_BEGIN + GONE_MS)).toBeUndefined();
  });

  test('a client whose nodes are killed one after the other finds a place at the next one', async () => {
    const session = makeSession();
    for (let kills = 0; kills < 3 * MAX_SOCKETS; kills += 1)
      await take(makeNode(), session, 1, DAY_BEGIN + kills * 3 * SECOND);
  });

  test('places of a living node are taken for as long as it has them', async () => {
    const [holder, other, session] = [makeNode(), makeNode(), makeSession()];
    await take(holder, session, MAX_SOCKETS - 1, DAY_BEGIN);
    const last = await holder.take(session, DAY_BEGIN);
    for (let seconds = 1; seconds <= 200; seconds += 1) {
      const at = DAY_BEGIN + seconds * SECOND;
      holder.renew(at);
      expect(await other.take(session, at)).toBeUndefined();
    }
    if (last !== undefined) holder.leave(last);
    await take(other, session, 1, DAY_BEGIN + 200 * SECOND);
  });

  test('places of a node that was only paused are taken again when it goes on', async () => {
    const [frozen, other, session] = [makeNode(), makeNode(), makeSession()];
    await take(frozen, session, MAX_SOCKETS, DAY_BEGIN);
    frozen.renew(DAY_BEGIN + 20 * SECOND);
    expect(await other.take(session, DAY_BEGIN + 20 * SECOND)).toBeUndefined();
  });

  test('places that Redis lost are taken again once they are renewed', async () => {
    const [holder, other, session] = [makeNode(), makeNode(), makeSession()];
    await take(holder, session, MAX_SOCKETS, DAY_BEGIN);
    await service.flush();
    for (let seconds = 1; seconds <= 30; seconds += 1) holder.renew(DAY_BEGIN + seconds * SECOND);
    expect(await other.take(session, DAY_BEGIN + 30 * SECOND)).toBeUndefined();
  });
}
