import { describe, expect, it } from 'vitest';
import { FEED_PATH, FEED_SUBPROTOCOL } from '../../src/protocol/operator/feed.ts';
import { SERVICE_TOKEN, somebody, type TestApp } from '../support/app.ts';
import { RawClient, requestText } from '../support/raw-http.ts';
import { SocketClient, upgradeHeaders } from '../support/socket-client.ts';
import { useServed } from './served.ts';

const start = useServed();

const env = { OPERATOR_EMAILS: 'ops@example.com', RATE_IP_PER_MIN: '100000' };
const bearer = `Authorization: Bearer ${SERVICE_TOKEN}`;
const head = [...upgradeHeaders.slice(0, -1), `Sec-WebSocket-Protocol: ${FEED_SUBPROTOCOL}`];

async function connect(app: TestApp, port: number, email: string): Promise<SocketClient> {
  const headers = await app.as(email);
  return SocketClient.open(`ws://127.0.0.1:${port}${FEED_PATH}`, FEED_SUBPROTOCOL, headers);
}

describe('The upgrade of the feed', () => {
  it.each<[string, number, string, readonly string[]]>([
    ['from the page of a stranger', 403, 'ORIGIN_MISMATCH', [...head, 'Origin: https://evil.example']],
    ['from a widget of a customer, with a service token', 403, 'ORIGIN_MISMATCH', [...head, bearer, 'Origin: null']],
    ['by what is no page and has no service token', 401, 'AUTH_REQUIRED', head],
    ['with a service token that is none', 401, 'AUTH_REQUIRED', [...head, 'Authorization: Bearer guess']],
    ['of another subprotocol', 400, 'INVALID_REQUEST', [...upgradeHeaders, bearer]],
    ['that is none', 400, 'INVALID_REQUEST', [bearer]],
  ])('%s is refused before any 101', async (_, status, code, headers) => {
    const { port } = await start({ env });
    const client = await RawClient.sending(port, requestText('GET', FEED_PATH, headers));
    const reply = await client.reply();
    client.destroy();
    expect({ status: reply.status, code: JSON.parse(reply.body).code }).toEqual({ status, code });
  });

  it('admits an operator of the console, who is told who they are', async () => {
    const { app, port } = await start({ env });
    const socket = await connect(app, port, 'ops@example.com');
    expect(JSON.parse(await socket.hear())).toMatchObject({ type: 'hello', role: 'operator' });
    expect(app.service.feed.size).toBe(1);
    socket.socket.close();
    await expect.poll(() => app.service.feed.size).toBe(0);
  });

  it('is made before the role is known: the socket of a login without one is closed with the reason', async () => {
    const { app, port } = await start({ env });
    const socket = await connect(app, port, somebody());
    expect(await socket.closed).toMatchObject({ code: 4403 });
    expect(socket.messages).toEqual([]);
  });
});
