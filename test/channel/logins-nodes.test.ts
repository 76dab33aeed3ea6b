import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FEED_PATH, FEED_SUBPROTOCOL } from '../../src/protocol/operator/feed.ts';
import { reasonToSkipPostgres } from '../support/services/postgres.ts';
import { reasonToSkipRedis } from '../support/services/redis.ts';
import { SocketClient } from '../support/socket-client.ts';
import { expectEnds, TwoNodes, type Console } from './two-nodes.ts';

const reason = reasonToSkipPostgres() ?? reasonToSkipRedis();

describe.skipIf(reason !== undefined)(`Sockets of console users on two nodes ${reason ?? ''}`, () => {
  let both: TwoNodes;

  beforeAll(async () => {
    both = await TwoNodes.start({ RATE_IP_PER_MIN: '10000', CONSOLE_MAX_TOKENS_DAILY: '1000', MAX_OTP_PER_HOUR: '10' });
  });

  afterAll(() => both?.close());

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
