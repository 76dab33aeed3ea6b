import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SOCKET_PATH } from '../../src/http/routes/socket.ts';
import { Client, type Reply } from '../support/client.ts';
import { reasonToSkipPostgres } from '../support/services/postgres.ts';
import { reasonToSkipRedis } from '../support/services/redis.ts';
import { SocketClient } from '../support/socket-client.ts';
import { TwoNodes, type Node } from './two-nodes.ts';

const reason = reasonToSkipPostgres() ?? reasonToSkipRedis();
const RACERS = 20;

interface Page {
  readonly socket: SocketClient;
  readonly token: string;
}

describe.skipIf(reason !== undefined)(`A session that another page resumes, on two nodes ${reason ?? ''}`, () => {
  let both: TwoNodes;
  let users = 0;

  beforeAll(async () => {
    // In development the provider is the echo, whose calls are brokered.
    both = await TwoNodes.start({ NODE_ENV: 'development', RATE_IP_PER_MIN: '10000', WIDGET_SESSION_PER_MIN: '1000' });
  });

  afterAll(() => both?.close());

  const opened = async (): Promise<{ email: string; id: string }> => {
    users += 1;
    const email = `user${users}@example.com`;
    return { email, id: await both.open(email) };
  };

  async function attach({ port }: Node, sm_session_id: string, email: string): Promise<Page> {
    const socket = await SocketClient.open(`ws://127.0.0.1:${port}${SOCKET_PATH}`, 'switchboard.v1', both.from);
    socket.say({ type: 'attach', sm_session_id, email, wants: ['call'] });
    const { resume } = JSON.parse(await socket.hear()) as { readonly resume: string };
    expect(resume).toMatch(/^rs_[A-Za-z0-9_-]{43}$/);
    return { socket, token: resume };
  }

  function resume({ port }: Node, token: string, email: string): Promise<Reply> {
    const visitor = new Client(() => `http://127.0.0.1:${port}`, new Set(), { ...both.from, Origin: both.origin });
    const widgetKey = 'w_demo_local_00000000000000000000000000000000';
    return visitor.post('/api/session', { widgetKey, email, resume: token });
  }

  it('goes on at either node with a token of the other, where the former page’s socket is closed', async () => {
    const [one, other] = both.nodes;
    const { email, id } = await opened();
    for (const [here, there] of [
      [one, other],
      [other, one],
    ] as const) {
      const former = await attach(here, id, email);
      const reply = await resume(there, former.token, email);
      expect([reply.status, reply.body]).toMatchObject([200, { sm_session_id: id, resumed: true }]);
      expect(await former.socket.closed).toEqual({ code: 4408, reason: 'resumed elsewhere' });
    }
    const present = await attach(one, id, email);
    present.socket.say({ type: 'heartbeat', id: 1 });
    expect(JSON.parse(await present.socket.hear())).toMatchObject({ type: 'heartbeat', state: 'engaged' });
  });

  it(`goes on with one of ${RACERS} pages that try at both nodes at once`, async () => {
    const { email, id } = await opened();
    const { token } = await attach(both.nodes[0], id, email);
    const tries = Array.from({ length: RACERS }, (_, n) => resume(both.nodes[n % 2 === 0 ? 0 : 1], token, email));
    const codes = (await Promise.all(tries)).map(({ status }) => status);
    expect(codes.filter((status) => status === 200)).toHaveLength(1);
    expect(codes.filter((status) => status === 409)).toHaveLength(RACERS - 1);
  });

  it('goes on at the other node after the former page’s node was killed', async () => {
    const [dying, living] = both.nodes;
    const { email, id } = await opened();
    const { token } = await attach(dying, id, email);
    await dying.server.end('SIGKILL');
    const reply = await resume(living, token, email);
    expect([reply.status, reply.body]).toMatchObject([200, { sm_session_id: id, resumed: true }]);
    await attach(living, id, email);
    expect((await resume(living, token, email)).status).toBe(409);
  });
});
