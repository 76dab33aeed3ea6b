import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { atEach } from '../redis/support.ts';
import { reasonToSkipPostgres } from '../support/services/postgres.ts';
import { reasonToSkipRedis } from '../support/services/redis.ts';
import { promptly, runToEnd } from '../support/switchboard.ts';
import { expectEnds, TwoNodes } from './two-nodes.ts';

const reason = reasonToSkipPostgres() ?? reasonToSkipRedis();

describe.skipIf(reason !== undefined)(`Sockets of two nodes that missed each other's words ${reason ?? ''}`, () => {
  let both: TwoNodes;

  beforeAll(async () => {
    both = await TwoNodes.start({ ...promptly, RATE_IP_PER_MIN: '10000' });
  });

  afterAll(async () => {
    both?.redis.thaw();
    await both?.close();
  });

  it('hear of an end that happened while their node stood still and its bus was cut', async () => {
    const email = 'ann@example.com';
    const id = await both.open(email);
    const sockets = await both.attach(id, email);
    const [here, there] = both.nodes;
    process.kill(there.server.pid, 'SIGSTOP');
    try {
      // Cuts the bus before the end: once the node continues it could still read what was published before the cut.
      await atEach(both.redis, ['CLIENT', 'KILL', 'TYPE', 'pubsub']);
      await both.endByOperator(here, id);
      await expectEnds(sockets.slice(0, 1), 'closed_by_operator');
    } finally {
      process.kill(there.server.pid, 'SIGCONT');
    }
    await expectEnds(sockets, 'closed_by_operator');
  });

  it('hear of an end that happens while Redis is frozen, before it is back', async () => {
    const email = 'ben@example.com';
    const id = await both.open(email);
    const sockets = await both.attach(id, email);
    both.redis.freeze();
    try {
      await both.endByOperator(both.nodes[0], id);
      await expectEnds(sockets, 'closed_by_operator');
    } finally {
      both.redis.thaw();
    }
  });

  it('hear of a usage report over the ceiling that was counted while the other node’s bus was cut', async () => {
    const email = 'cid@example.com';
    const id = await both.open(email);
    const sockets = await both.attach(id, email);
    const [, there] = both.nodes;
    process.kill(there.server.pid, 'SIGSTOP');
    try {
      await atEach(both.redis, ['CLIENT', 'KILL', 'TYPE', 'pubsub']);
      sockets[0]?.say({ type: 'usage', tokens: 300_001, dollars: 0, id: 'a' });
      await expectEnds(sockets.slice(0, 1), 'quota_exceeded');
    } finally {
      process.kill(there.server.pid, 'SIGCONT');
    }
    await expectEnds(sockets, 'quota_exceeded');
  });

  it('hear that a revoked key ends their session while Redis is frozen', async () => {
    const email = 'dan@example.com';
    const sockets = await both.attach(await both.open(email), email);
    both.redis.freeze();
    try {
      const revoked = await runToEnd(['keys', 'revoke', '--tenant', 'demo', '--id', 'local'], both.environment);
      expect(revoked.code, revoked.stderr).toBe(0);
      await expectEnds(sockets, 'key_revoked');
    } finally {
      both.redis.thaw();
    }
  });
});
