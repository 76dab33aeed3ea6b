import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { SessionChange } from '../../src/protocol/operator/feed.ts';
import { reasonToSkipPostgres } from '../support/services/postgres.ts';
import { reasonToSkipRedis } from '../support/services/redis.ts';
import { expectEnds, TwoNodes } from './two-nodes.ts';

const reason = reasonToSkipPostgres() ?? reasonToSkipRedis();

describe.skipIf(reason !== undefined)(`Sockets of one session on two nodes ${reason ?? ''}`, () => {
  let both: TwoNodes;
  let tests = 0;

  beforeAll(async () => {
    both = await TwoNodes.start({ WIDGET_MAX_TOKENS_DAILY: '1000', RATE_IP_PER_MIN: '20', RATE_BURST: '100' });
  });

  beforeEach(() => {
    // Each test has an address, and so a window, of its own.
    tests += 1;
    both.address = `192.0.2.${tests}`;
  });

  afterAll(() => both?.close());

  it('all hear of the end when one of them ends the session', async () => {
    const email = 'ann@example.com';
    const sockets = await both.attach(await both.open(email), email);
    sockets[1]?.say({ type: 'end' });
    await expectEnds(sockets, 'closed_by_client');
  });

  it('all hear of the end when an operator ends the session on either node', async () => {
    for (const node of both.nodes) {
      const email = `ben-${node.port}@example.com`;
      const id = await both.open(email);
      const sockets = await both.attach(id, email);
      await both.endByOperator(node, id);
      await expectEnds(sockets, 'closed_by_operator');
    }
  });

  it('all are warned of the quota, and end with it', async () => {
    const email = 'cid@example.com';
    const sockets = await both.attach(await both.open(email), email);
    const [one, other] = sockets;
    one?.say({ type: 'usage', tokens: 900, dollars: 0, id: 'a' });
    expect(JSON.parse((await other?.hear()) ?? '')).toEqual({ type: 'warning', reason: 'quota' });
    other?.say({ type: 'usage', tokens: 101, dollars: 0, id: 'b' });
    await expectEnds(sockets, 'quota_exceeded');
  });

  it('are at most four, and one that leaves makes room on either node', async () => {
    const email = 'dan@example.com';
    const id = await both.open(email);
    const four = [...(await both.attach(id, email)), ...(await both.attach(id, email))];
    for (const node of both.nodes)
      expect(await (await both.connect(node, id, email)).closed).toMatchObject({ code: 4429 });
    four[0]?.socket.close();
    await four[0]?.closed;
    await expect
      .poll(async () => {
        const socket = await both.connect(both.nodes[1], id, email);
        return JSON.parse(await socket.hear().catch(() => '{}')).type;
      })
      .toBe('attached');
  });

  it('report no more usage a minute than one address may over HTTP', async () => {
    const email = 'eve@example.com';
    const id = await both.open(email);
    const sockets = [...(await both.attach(id, email)), ...(await both.attach(id, email))];
    for (let n = 0; n < 40; n += 1) sockets[n % 4]?.say({ type: 'usage', tokens: 1, dollars: 0, id: `u${n}` });
    const counted = (): number =>
      sockets.flatMap(({ messages }) => messages).filter((text) => JSON.parse(text).type === 'usage').length;
    await expect.poll(() => sockets.flatMap(({ messages }) => messages).length).toBe(44);
    // 20 a minute, of which opening the session and sockets spent five; a new minute may begin meanwhile.
    expect(counted()).toBeGreaterThan(0);
    expect(counted()).toBeLessThanOrEqual(20 + 15);
  });

  it('and the feed of one node, which shows what the other node does', async () => {
    const email = 'fay@example.com';
    const watching = await both.watch(both.nodes[1], ['counts', 'sessions']);
    // A node that was slow to hear from Redis may report a gap first.
    await expect
      .poll(() => watching.messages.map((text) => JSON.parse(text) as unknown))
      .toContainEqual(expect.objectContaining({ type: 'tick', lossy: false }));
    // The other node learns in its own time that somebody is watching here, so it may not report the first ends.
    const ended: string[] = [];
    await expect
      .poll(async () => {
        const id = await both.open(email);
        await both.endByOperator(both.nodes[0], id);
        ended.push(id.slice(0, 42));
        return watching.messages
          .map((text) => JSON.parse(text) as { type: string; changes?: readonly SessionChange[] })
          .flatMap(({ changes = [] }) => changes)
          .some(
            ({ ref, state, reason: why }) => ended.includes(ref) && state === 'ended' && why === 'closed_by_operator',
          );
      })
      .toBe(true);
  });

  it('and the feed, which reports that something may have been missed after the nodes were cut off from each other', async () => {
    const watching = await both.watch(both.nodes[0], ['counts']);
    await both.redis.restart();
    await expect.poll(() => watching.messages.some((text) => text.includes('"type":"gap"'))).toBe(true);
  });
});
