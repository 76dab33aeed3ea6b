import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { SOCKET_PATH } from '../../src/http/routes/socket.ts';
import { FEED_PATH, FEED_SUBPROTOCOL } from '../../src/protocol/operator/feed.ts';
import { Client } from '../support/client.ts';
import { demoTenantsAnd, type MoreTenants } from '../support/demo-tenants.ts';
import { neededDatabase, type FreshDatabase } from '../support/services/fresh-database.ts';
import { startRedis, type RedisService } from '../support/services/redis.ts';
import { freePort } from '../support/services/server-process.ts';
import { soon } from '../support/soon.ts';
import { SocketClient } from '../support/socket-client.ts';
import { Switchboard, type Environment } from '../support/switchboard.ts';

const widgetKey = 'w_demo_local_00000000000000000000000000000000';
/** The origin at which the demo key works, on either node. */
const origin = 'http://localhost:3000';
export const serviceToken = 'service-token-that-only-the-tests-know';

export interface Node {
  readonly port: number;
  readonly server: Switchboard;
}

/** A console user who is logged in. */
export interface Console {
  /** The Cookie header. */
  readonly cookie: string;
  /** The console's page, as served by one of the nodes. */
  at(node: 0 | 1): Client;
}

/** Two processes of the service on one PostgreSQL and one Redis. */
export class TwoNodes {
  readonly redis: RedisService;
  readonly nodes: readonly [Node, Node];
  /** The settings with which both were started. */
  readonly environment: Environment;
  readonly #database: FreshDatabase;
  readonly #directory: string;
  /** The IP address that clients come from. */
  address = '192.0.2.1';

  private constructor(
    parts: Pick<TwoNodes, 'redis' | 'nodes' | 'environment'>,
    database: FreshDatabase,
    directory: string,
  ) {
    this.redis = parts.redis;
    this.nodes = parts.nodes;
    this.environment = parts.environment;
    this.#database = database;
    this.#directory = directory;
  }

  /** @param tenants those of its tenants file, besides the demo's */
  static async start(more: Environment = {}, tenants?: MoreTenants): Promise<TwoNodes> {
    const directory = await mkdtemp(join(tmpdir(), 'switchboard-nodes-'));
    const [database, redis] = await Promise.all([neededDatabase(), startRedis()]);
    const environment = {
      // Clients' reports count only where calls are not metered, and an echo's calls would be.
      NODE_ENV: 'test',
      DATABASE_URL: database.url,
      REDIS_URL: redis.url,
      PUBLIC_URL: origin,
      SERVICE_TOKENS: serviceToken,
      TRUST_PROXY: '127.0.0.1',
      ...(await demoTenantsAnd(tenants, directory)),
      ...more,
    };
    const start = async (name: string): Promise<Node> => {
      const port = await freePort();
      const server = await Switchboard.start({ PORT: String(port), DATA_DIR: join(directory, name), ...environment });
      return { port, server };
    };
    // One after the other, because the first creates the tables.
    const nodes = [await start('one'), await start('two')] as const;
    return new TwoNodes({ redis, nodes, environment }, database, directory);
  }

  async close(): Promise<void> {
    for (const { server } of this.nodes) await server.end('SIGKILL');
    await this.redis.stop();
    await this.#database.drop();
    await rm(this.#directory, { recursive: true, force: true });
  }

  /** Opens a session at the first node, once that has recovered what it lost. */
  open(email: string): Promise<string> {
    const body = { widgetKey, agentId: 'guide', email };
    const visitor = this.asking(this.nodes[0], { Origin: origin });
    const attempt = async (): Promise<string> => {
      const reply = await visitor.post('/api/session', body);
      expect(reply.status, reply.text).toBe(200);
      return String(reply.body.sm_session_id);
    };
    return vi.waitFor(attempt, soon);
  }

  /** Logs in at the first node with an e-mail address, using the code from its mailbox. */
  async login(email: string): Promise<Console> {
    const page = (node: 0 | 1): Client => this.asking(this.nodes[node], { Origin: origin });
    const here = page(0);
    expect((await here.post('/api/auth/otp/send', { email })).status).toBe(200);
    const code = await vi.waitFor(async () => {
      const mails = await (await fetch(`http://localhost:${this.nodes[0].port}/dev/mail`)).text();
      const mail = mails.split('<article>').find((each) => each.includes(`To ${email},`)) ?? '';
      const found = /\b\d{6}\b/.exec(mail.replace(/<h2>.*?<\/p>/, ''))?.[0];
      expect(found, mails).toBeDefined();
      return found;
    }, soon);
    const reply = await here.post('/api/auth/otp/verify', { email, code });
    expect(reply.status, reply.text).toBe(200);
    const { cookie } = here;
    const at = (node: 0 | 1): Client => Object.assign(page(node), { cookie });
    return { cookie: `tenant_session=${cookie}`, at };
  }

  readonly origin = origin;

  /** The headers that say where clients come from. */
  get from(): Readonly<Record<string, string>> {
    return { 'x-forwarded-for': this.address };
  }

  async endByOperator(node: Node, id: string): Promise<void> {
    const operator = this.asking(node, { Authorization: `Bearer ${serviceToken}` });
    const reply = await operator.post(`/api/operator/sessions/${encodeURIComponent(id)}/end`, {});
    expect(reply.status, reply.text).toBe(200);
  }

  /** Opens a feed socket at a node, as a service. */
  async watch({ port }: Node, topics: readonly string[]): Promise<SocketClient> {
    const headers = { ...this.from, authorization: `Bearer ${serviceToken}` };
    const socket = await SocketClient.open(`ws://127.0.0.1:${port}${FEED_PATH}`, FEED_SUBPROTOCOL, headers);
    expect(JSON.parse(await socket.hear())).toMatchObject({ type: 'hello', role: 'service' });
    socket.say({ type: 'watch', topics });
    return socket;
  }

  /** Opens a socket and sends the attach. */
  async connect({ port }: Node, sm_session_id: string, email: string): Promise<SocketClient> {
    const socket = await SocketClient.open(`ws://127.0.0.1:${port}${SOCKET_PATH}`, 'switchboard.v1', this.from);
    socket.say({ type: 'attach', sm_session_id, email });
    return socket;
  }

  /** Opens an attached socket at each node. */
  async attach(sm_session_id: string, email: string): Promise<SocketClient[]> {
    const sockets: SocketClient[] = [];
    for (const node of this.nodes) {
      const socket = await this.connect(node, sm_session_id, email);
      expect(JSON.parse(await socket.hear())).toMatchObject({ type: 'attached', state: 'engaged' });
      sockets.push(socket);
    }
    return sockets;
  }

  /** A client of one of the nodes. */
  asking({ port }: Node, headers: Readonly<Record<string, string>> = {}): Client {
    return new Client(() => `http://127.0.0.1:${port}`, new Set(), { ...this.from, ...headers });
  }
}

export async function expectEnds(sockets: readonly SocketClient[], endReason: string): Promise<void> {
  for (const socket of sockets) {
    expect(await socket.closed).toEqual({ code: 4403, reason: endReason });
    expect(JSON.parse(socket.messages.at(-1) ?? '')).toMatchObject({ type: 'ended', reason: endReason });
  }
}
