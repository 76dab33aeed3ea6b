import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SOCKET_PATH } from '../../src/http/routes/socket.ts';
import { Client } from '../support/client.ts';
import { reasonToSkipPostgres, startPostgres, type PostgresService } from '../support/services/postgres.ts';
import { reasonToSkipRedis, startRedis, type RedisService } from '../support/services/redis.ts';
import { freePort } from '../support/services/server-process.ts';
import { SocketClient } from '../support/socket-client.ts';
import { Switchboard } from '../support/switchboard.ts';

const reason = reasonToSkipPostgres() ?? reasonToSkipRedis();
const widgetKey = 'w_demo_local_00000000000000000000000000000000';
/** Where the demo key works, whichever node is asked. */
const origin = 'http://localhost:3000';
const serviceToken = 'service-token-that-only-the-tests-know';

interface Node {
  readonly port: number;
  readonly server: Switchboard;
}

describe.skipIf(reason !== undefined)(`Sockets of one session on two nodes ${reason ?? ''}`, () => {
  let directory: string;
  let postgres: PostgresService;
  let redis: RedisService;
  const nodes: Node[] = [];

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'switchboard-nodes-'));
    [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
    // One after the other: the first makes the tables.
    for (const name of ['one', 'two']) {
      const port = await freePort();
      const server = await Switchboard.start({
        PORT: String(port),
        DATA_DIR: join(directory, name),
        DATABASE_URL: postgres.url,
        REDIS_URL: redis.url,
        PUBLIC_URL: origin,
        SERVICE_TOKENS: serviceToken,
        WIDGET_MAX_TOKENS_DAILY: '1000',
      });
      nodes.push({ port, server });
    }
  });

  afterAll(async () => {
    for (const { server } of nodes) await server.end('SIGKILL');
    await redis?.stop();
    await postgres?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const asking = ({ port }: Node, headers: Readonly<Record<string, string>>): Client =>
    new Client(() => `http://127.0.0.1:${port}`, new Set(), headers);

  async function open(email: string): Promise<string> {
    const [node] = nodes;
    if (node === undefined) throw new Error('they are started before');
    const { status, body, text } = await asking(node, { Origin: origin }).post('/api/session', {
      widgetKey,
      agentId: 'guide',
      email,
    });
    expect(status, text).toBe(200);
    return String(body.sm_session_id);
  }

  async function attach(sm_session_id: string, email: string): Promise<SocketClient[]> {
    const sockets: SocketClient[] = [];
    for (const { port } of nodes) {
      const socket = await SocketClient.open(`ws://127.0.0.1:${port}${SOCKET_PATH}`);
      socket.say({ type: 'attach', sm_session_id, email });
      expect(JSON.parse(await socket.hear())).toMatchObject({ type: 'attached', state: 'engaged' });
      sockets.push(socket);
    }
    return sockets;
  }

  async function expectEnds(sockets: readonly SocketClient[], endReason: string): Promise<void> {
    for (const socket of sockets) {
      expect(await socket.closed).toEqual({ code: 4403, reason: endReason });
      expect(JSON.parse(socket.messages.at(-1) ?? '')).toMatchObject({ type: 'ended', reason: endReason });
    }
  }

  it('all hear of the end that one of them asks for', async () => {
    const email = 'ann@example.com';
    const sockets = await attach(await open(email), email);
    sockets[1]?.say({ type: 'end' });
    await expectEnds(sockets, 'closed_by_client');
  });

  it('all hear of the end by an operator, whichever node is asked', async () => {
    for (const node of nodes) {
      const email = `ben-${node.port}@example.com`;
      const id = await open(email);
      const sockets = await attach(id, email);
      const operator = asking(node, { Authorization: `Bearer ${serviceToken}` });
      await operator.post(`/api/operator/sessions/${encodeURIComponent(id)}/end`, {});
      await expectEnds(sockets, 'closed_by_operator');
    }
  });

  it('all are warned of the quota, and end with it', async () => {
    const email = 'cid@example.com';
    const sockets = await attach(await open(email), email);
    const [one, other] = sockets;
    one?.say({ type: 'usage', tokens: 900, dollars: 0, id: 'a' });
    expect(JSON.parse((await other?.hear()) ?? '')).toEqual({ type: 'warning', reason: 'quota' });
    other?.say({ type: 'usage', tokens: 101, dollars: 0, id: 'b' });
    await expectEnds(sockets, 'quota_exceeded');
  });
});
