import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FEED_PATH, FEED_SUBPROTOCOL, type SessionChange } from '../../src/protocol/operator/feed.ts';
import { reasonToSkipPostgres } from '../support/services/postgres.ts';
import { reasonToSkipRedis } from '../support/services/redis.ts';
import { SocketClient } from '../support/socket-client.ts';
import { expectEnds, serviceToken, TwoNodes, type Console } from './two-nodes.ts';

const reason = reasonToSkipPostgres() ?? reasonToSkipRedis();
const keys = {
  small: { key: 'w_acme_small_00000000000000000000000000000000', origin: 'https://small.example', tokens: 1000 },
  large: { key: 'w_acme_large_00000000000000000000000000000000', origin: 'https://large.example', tokens: 100_000 },
};
type KeyName = keyof typeof keys;

const widgetKeys = Object.entries(keys).map(([id, { key, origin, tokens }]) => ({
  id,
  key,
  origin,
  limits: { dailyTokens: tokens, sessionsPerMinute: 100 },
}));
const acme = { id: 'acme', widgetKeys, agents: [{ id: 'support', model: 'gpt-realtime-2.1', voice: 'marin' }] };

let both: TwoNodes;

/** Each test has an address, and so a window, of its own. */
let tests = 0;

describe.skipIf(reason !== undefined)(`On two nodes ${reason ?? ''}`, () => {
  beforeAll(async () => {
    both = await TwoNodes.start(
      {
        WIDGET_MAX_TOKENS_DAILY: '1000',
        WIDGET_MAX_TOKENS_PER_MINUTE: '2000',
        CONSOLE_MAX_TOKENS_DAILY: '1000',
        MAX_OTP_PER_HOUR: '10',
        RATE_IP_PER_MIN: '20',
        RATE_BURST: '100',
      },
      { tenants: [acme] },
    );
  });

  beforeEach(() => {
    tests += 1;
    both.address = `192.0.2.${tests}`;
  });

  afterAll(() => both?.close());

  describe('sockets of console users', () => {
    /** A feed socket at each node that has been told who is watching. */
    async function watch({ cookie }: Console): Promise<SocketClient[]> {
      const sockets: SocketClient[] = [];
      for (const { port } of both.nodes) {
        const headers = { ...both.from, cookie, origin: both.origin };
        const socket = await SocketClient.open(`ws://127.0.0.1:${port}${FEED_PATH}`, FEED_SUBPROTOCOL, headers);
        expect(JSON.parse(await socket.hear())).toMatchObject({ type: 'hello', role: 'operator' });
        sockets.push(socket);
      }
      return sockets;
    }

    it.each([0, 1] as const)('that watch the feed are closed when the login logs out at node %i', async (at) => {
      const login = await both.login(`ann${at}@example.com`);
      const [sockets, others] = [await watch(login), await watch(await both.login(`bob${at}@example.com`))];
      expect((await login.at(at).post('/api/auth/logout')).status).toBe(200);
      for (const socket of sockets) expect(await socket.closed).toMatchObject({ code: 4401 });
      for (const { socket } of others) expect(socket.readyState).toBe(socket.OPEN);
    });

    it.each([0, 1] as const)('that watch the feed are closed when the login is revoked at node %i', async (at) => {
      const login = await both.login(`ann${at}@example.com`);
      const sockets = await watch(login);
      const { body } = await login.at(at).get('/api/auth/session');
      const operator = (await both.login(`bob${at}@example.com`)).at(at);
      expect((await operator.post(`/api/operator/logins/${body.sessionId}/revoke`)).status).toBe(200);
      for (const socket of sockets) expect(await socket.closed).toMatchObject({ code: 4401 });
    });

    it('that carry a voice session all hear of the violation that ends it, and the feed closes with the login', async () => {
      const login = await both.login('cid@example.com');
      const feeds = await watch(login);
      const created = await login.at(0).post('/api/session', { tenantId: 'demo' });
      expect(created.status, created.text).toBe(200);
      const sockets = await both.attach(String(created.body.sm_session_id), 'cid@example.com');
      sockets[1]?.say({ type: 'usage', tokens: 1001, dollars: 0, id: 'a' });
      await expectEnds(sockets, 'quota_exceeded');
      for (const socket of feeds) expect(await socket.closed).toMatchObject({ code: 4401 });
      for (const node of [0, 1] as const) expect((await login.at(node).get('/api/auth/session')).status).toBe(401);
    });
  });

  describe('one user’s sessions on two keys', () => {
    async function open(node: 0 | 1, name: KeyName, email: string): Promise<string> {
      const { key, origin } = keys[name];
      const body = { widgetKey: key, agentId: 'support', email };
      const reply = await both.asking(both.nodes[node], { Origin: origin }).post('/api/session', body);
      expect(reply.status, reply.text).toBe(200);
      return String(reply.body.sm_session_id);
    }

    async function attach(node: 0 | 1, sm_session_id: string, email: string): Promise<SocketClient> {
      const socket = await both.connect(both.nodes[node], sm_session_id, email);
      expect(JSON.parse(await socket.hear())).toMatchObject({ type: 'attached' });
      return socket;
    }

    it('each end by their own key’s ceiling, whichever node gets the report', async () => {
      for (const [node, other, email] of [
        [0, 1, 'ann@example.com'],
        [1, 0, 'ben@example.com'],
      ] as const) {
        const small = await attach(other, await open(node, 'small', email), email);
        const id = await open(other, 'large', email);
        const large = await attach(node, id, email);
        const report = { sm_session_id: id, email, tokens: 1001, dollars: 0 };
        expect(await both.asking(both.nodes[node]).post('/api/auth/usage', report)).toMatchObject({ status: 200 });
        expect(await small.closed).toEqual({ code: 4403, reason: 'quota_exceeded' });
        large.say({ type: 'heartbeat', id: 'alive' });
        expect(JSON.parse(await large.hear())).toMatchObject({
          type: 'heartbeat',
          id: 'alive',
          session: { active: true },
        });
        const back = both.asking(both.nodes[other], { Authorization: `Bearer ${serviceToken}` });
        const over = await back.post('/api/auth/usage', { email, tenantId: 'acme', tokens: 99_000, dollars: 0 });
        expect([over.status, over.body]).toMatchObject([429, { counted: true, usage: { dailyTokenLimit: 100_000 } }]);
        expect(await large.closed).toEqual({ code: 4403, reason: 'quota_exceeded' });
      }
    });

    it('may report in all no more than a session’s time makes plausible, even on both nodes at once', async () => {
      const email = 'cid@example.com';
      const sm_session_id = await open(0, 'large', email);
      const report = { sm_session_id, email, tokens: 500, dollars: 0 };
      const replies = await Promise.all(
        Array.from({ length: 40 }, (_, n) =>
          // From addresses of their own, because here the window of an address would be narrower.
          both
            .asking(both.nodes[n % 2 === 0 ? 0 : 1], { 'x-forwarded-for': `198.51.100.${n}` })
            .post('/api/auth/usage', report),
        ),
      );
      const refused = replies.filter(({ status }) => status === 422);
      expect(refused[0]?.body).toMatchObject({ code: 'USAGE_IMPLAUSIBLE' });
      const { body } = await both
        .asking(both.nodes[0], { Authorization: `Bearer ${serviceToken}` })
        .post('/api/auth/usage', {
          email,
          tenantId: 'acme',
          tokens: 0,
          dollars: 0,
        });
      // Worth two minutes, or three if another minute of the session has begun meanwhile.
      const counted = 500 * (replies.length - refused.length);
      expect([4000, 6000]).toContain(counted);
      expect(body).toMatchObject({ usage: { tokens: counted } });
    });
  });

  describe('sockets of one session', () => {
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
        .poll(
          async () => {
            const socket = await both.connect(both.nodes[1], id, email);
            return JSON.parse(await socket.hear().catch(() => '{}')).type;
          },
          { interval: 200 },
        )
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
        .poll(
          async () => {
            const id = await both.open(email);
            await both.endByOperator(both.nodes[0], id);
            ended.push(id.slice(0, 42));
            return watching.messages
              .map((text) => JSON.parse(text) as { type: string; changes?: readonly SessionChange[] })
              .flatMap(({ changes = [] }) => changes)
              .some(
                ({ ref, state, reason: why }) =>
                  ended.includes(ref) && state === 'ended' && why === 'closed_by_operator',
              );
          },
          { interval: 200 },
        )
        .toBe(true);
    });

    it('and the feed, which reports that something may have been missed after the nodes were cut off from each other', async () => {
      const watching = await both.watch(both.nodes[0], ['counts']);
      await both.redis.restart();
      await expect.poll(() => watching.messages.some((text) => text.includes('"type":"gap"'))).toBe(true);
    });
  });
});
