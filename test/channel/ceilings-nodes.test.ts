import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SOCKET_PATH } from '../../src/http/routes/socket.ts';
import { Client } from '../support/client.ts';
import { neededDatabase, type FreshDatabase } from '../support/services/fresh-database.ts';
import { reasonToSkipPostgres } from '../support/services/postgres.ts';
import { reasonToSkipRedis, startRedis, type RedisService } from '../support/services/redis.ts';
import { SocketClient } from '../support/socket-client.ts';
import { Switchboard } from '../support/switchboard.ts';

const reason = reasonToSkipPostgres() ?? reasonToSkipRedis();
const serviceToken = 'service-token-that-only-the-tests-know';
const keys = {
  small: { key: 'w_acme_small_00000000000000000000000000000000', origin: 'https://small.example', tokens: 1000 },
  large: { key: 'w_acme_large_00000000000000000000000000000000', origin: 'https://large.example', tokens: 100_000 },
};
type KeyName = keyof typeof keys;

describe.skipIf(reason !== undefined)(`One user's sessions on two keys and two nodes ${reason ?? ''}`, () => {
  let directory: string;
  let database: FreshDatabase;
  let redis: RedisService;
  const nodes: Switchboard[] = [];

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'switchboard-ceilings-'));
    const widgetKeys = Object.entries(keys).map(([id, { key, origin, tokens }]) => ({
      id,
      key,
      origin,
      limits: { dailyTokens: tokens, sessionsPerMinute: 100 },
    }));
    const agents = [{ id: 'support', model: 'gpt-realtime-2.1', voice: 'marin' }];
    const tenants = join(directory, 'tenants.json');
    await writeFile(tenants, JSON.stringify({ tenants: [{ id: 'acme', widgetKeys, agents }] }));
    [database, redis] = await Promise.all([neededDatabase(), startRedis()]);
    // One after the other, because the first creates the tables.
    for (const name of ['one', 'two'])
      nodes.push(
        await Switchboard.start({
          // Clients' reports count only where calls are not metered, and an echo's calls would be.
          NODE_ENV: 'test',
          DATA_DIR: join(directory, name),
          TENANTS_FILE: tenants,
          DATABASE_URL: database.url,
          REDIS_URL: redis.url,
          SERVICE_TOKENS: serviceToken,
          RATE_IP_PER_MIN: '10000',
          WIDGET_MAX_TOKENS_PER_MINUTE: '2000',
        }),
      );
  });

  afterAll(async () => {
    for (const node of nodes) await node.end('SIGKILL');
    await redis?.stop();
    await database?.drop();
    await rm(directory, { recursive: true, force: true });
  });

  const at = (node: number): Switchboard => {
    const found = nodes[node];
    if (found === undefined) throw new Error('they are started before');
    return found;
  };
  const asking = (node: number, headers: Readonly<Record<string, string>> = {}): Client =>
    new Client(() => `http://127.0.0.1:${at(node).port}`, new Set(), headers);

  async function open(node: number, name: KeyName, email: string): Promise<string> {
    const { key, origin } = keys[name];
    const body = { widgetKey: key, agentId: 'support', email };
    const reply = await asking(node, { Origin: origin }).post('/api/session', body);
    expect(reply.status, reply.text).toBe(200);
    return String(reply.body.sm_session_id);
  }

  async function attach(node: number, sm_session_id: string, email: string): Promise<SocketClient> {
    const socket = await SocketClient.open(`ws://127.0.0.1:${at(node).port}${SOCKET_PATH}`);
    socket.say({ type: 'attach', sm_session_id, email });
    expect(JSON.parse(await socket.hear())).toMatchObject({ type: 'attached' });
    return socket;
  }

  it('each end by their own key’s ceiling, whichever node gets the report', async () => {
    for (const [node, email] of ['ann@example.com', 'ben@example.com'].entries()) {
      const small = await attach(1 - node, await open(node, 'small', email), email);
      const id = await open(1 - node, 'large', email);
      const large = await attach(node, id, email);
      const report = { sm_session_id: id, email, tokens: 1001, dollars: 0 };
      expect(await asking(node).post('/api/auth/usage', report)).toMatchObject({ status: 200 });
      expect(await small.closed).toEqual({ code: 4403, reason: 'quota_exceeded' });
      large.say({ type: 'heartbeat', id: 'alive' });
      expect(JSON.parse(await large.hear())).toMatchObject({
        type: 'heartbeat',
        id: 'alive',
        session: { active: true },
      });
      const back = asking(1 - node, { Authorization: `Bearer ${serviceToken}` });
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
      Array.from({ length: 40 }, (_, n) => asking(n % 2).post('/api/auth/usage', report)),
    );
    const refused = replies.filter(({ status }) => status === 422);
    expect(refused[0]?.body).toMatchObject({ code: 'USAGE_IMPLAUSIBLE' });
    const { body } = await asking(0, { Authorization: `Bearer ${serviceToken}` }).post('/api/auth/usage', {
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
