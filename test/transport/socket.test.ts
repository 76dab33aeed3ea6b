import { afterAll, describe, expect, it } from 'vitest';
import type { Socket, SocketListener } from '../../src/kernel/socket.ts';
import type { SocketEndpoint } from '../../src/transport/socket.ts';
import type { HttpReply, HttpRequest } from '../../src/http/message.ts';
import type { Eventually } from '../../src/kernel/async.ts';
import type { ListenOptions } from '../../src/transport/server.ts';
import { RawClient, requestText } from '../support/raw-http.ts';
import { frameBytes, opcode, RawSocket, SocketClient, upgradeHeaders } from '../support/socket-client.ts';
import { askGood, closeServers, serve, text, type TestServer } from '../support/transport-server.ts';

afterAll(closeServers);

const path = '/socket';
const switching: HttpReply = { status: 101, headers: [['X-Request-Id', 'r1']], body: '' };

/** What happened to one socket on the server. */
class Echo implements SocketListener {
  readonly socket: Socket;
  readonly heard: string[] = [];
  pings = 0;
  closings = 0;

  constructor(socket: Socket) {
    this.socket = socket;
  }

  message(message: string): void {
    this.heard.push(message);
    if (message === 'throw') throw new Error('thrown on purpose');
    if (message === 'close') this.socket.close(4403, 'asked for');
    else this.socket.send(message);
  }

  binary(): void {
    this.socket.send('binary');
  }

  ping(): void {
    this.pings += 1;
  }

  closed(): void {
    this.closings += 1;
  }
}

interface SocketServer extends TestServer {
  readonly url: string;
  /** The listeners of all sockets so far. */
  readonly sockets: Echo[];
}

async function serveSockets(
  handle: (request: HttpRequest) => Eventually<HttpReply> = () => switching,
  {
    endpoint,
    ...options
  }: Partial<Omit<ListenOptions, 'sockets'>> & { readonly endpoint?: Partial<SocketEndpoint> } = {},
): Promise<SocketServer> {
  const sockets: Echo[] = [];
  const server = await serve(handle, {
    ...options,
    sockets: [
      {
        path,
        subprotocol: 'switchboard.v1',
        accept(socket) {
          const echo = new Echo(socket);
          sockets.push(echo);
          return echo;
        },
        ...endpoint,
      },
    ],
  });
  return { ...server, sockets, url: `ws://127.0.0.1:${server.port}${path}` };
}

const wait = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

describe('an upgrade', () => {
  it('goes through the handler and opens a socket when the answer is 101', async () => {
    const { url, requests, sockets } = await serveSockets();
    const client = await SocketClient.open(`${url}?a=1`, 'switchboard.v1', { Origin: 'https://www.acme.example' });
    expect(requests).toMatchObject([
      { method: 'GET', path, query: 'a=1', headers: { upgrade: 'websocket', origin: 'https://www.acme.example' } },
    ]);
    client.say('hello');
    expect(await client.hear()).toBe('hello');
    expect(sockets).toHaveLength(1);
    client.socket.close();
    await expect.poll(() => sockets[0]?.closings).toBe(1);
  });

  it('answers with the accept key, the subprotocol that was offered and the headers of the reply', async () => {
    const { port } = await serveSockets();
    const { head } = await RawSocket.open(port, path);
    expect(head).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n/);
    expect(head).toMatch(/\r\nX-Request-Id: r1\r\n/i);
    expect(head).toMatch(/\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=\r\n/i);
    expect(head).toMatch(/\r\nSec-WebSocket-Protocol: switchboard\.v1\b/i);
    expect(head).not.toMatch(/Sec-WebSocket-Extensions/i);
  });

  it('chooses the subprotocol among others, and none if it was not offered', async () => {
    const { url } = await serveSockets();
    const among = await SocketClient.open(url, ['chat', 'switchboard.v1']);
    expect(among.socket.protocol).toBe('switchboard.v1');
    const without = await SocketClient.open(url, []);
    expect(without.socket.protocol).toBe('');
  });

  it('that is refused gets the reply whole, before any 101', async () => {
    const refusal: HttpReply = { status: 403, headers: [['Content-Type', 'application/json']], body: '{"code":"X"}' };
    for (const handle of [() => refusal, () => Promise.resolve(refusal)]) {
      const { port, sockets } = await serveSockets(handle);
      const client = await RawClient.sending(port, requestText('GET', path, upgradeHeaders));
      expect(await client.reply()).toMatchObject({ status: 403, body: '{"code":"X"}' });
      client.send(requestText('GET', '/good'));
      expect((await client.reply()).body).toBe('good');
      client.destroy();
      expect(sockets).toEqual([]);
    }
  });

  it('that is accepted after a wait is a fault of the handler, because such sockets are not safe', async () => {
    const { port, sockets, faults } = await serveSockets(() => Promise.resolve(switching));
    const client = await RawClient.sending(port, requestText('GET', path, upgradeHeaders));
    expect(await client.reply()).toMatchObject({ status: 500 });
    expect(faults).toMatchObject([{ name: 'LateUpgrade' }]);
    expect(sockets).toEqual([]);
    client.destroy();
  });

  it('of a client that leaves before the decision opens no socket', async () => {
    let decide: (reply: HttpReply) => void = () => {};
    const { port, requests, sockets, faults } = await serveSockets(
      () =>
        new Promise((resolve) => {
          decide = resolve;
        }),
    );
    const client = await RawClient.sending(port, requestText('GET', path, upgradeHeaders));
    await expect.poll(() => requests.length).toBe(1);
    client.destroy();
    await expect.poll(() => requests[0]?.signal().aborted).toBe(true);
    decide(switching);
    expect(await askGood(port)).toBe('good');
    expect([sockets, faults]).toEqual([[], []]);
  });

  it('that is never decided is given up at the deadline', async () => {
    const { port, faults } = await serveSockets(() => new Promise(() => {}), { replyDeadlineMs: 50 });
    const client = await RawClient.sending(port, requestText('GET', path, upgradeHeaders));
    expect(await client.reply()).toMatchObject({ status: 500 });
    expect(faults).toHaveLength(1);
    client.destroy();
  });

  it('whose handler throws or rejects is answered by onFault', async () => {
    const handlers = [
      () => {
        throw new Error('on purpose');
      },
      () => Promise.reject(new Error('on purpose')),
    ];
    for (const handle of handlers) {
      const { port, faults } = await serveSockets(handle);
      const client = await RawClient.sending(port, requestText('GET', path, upgradeHeaders));
      expect(await client.reply()).toMatchObject({ status: 500, body: 'Error: on purpose' });
      expect(faults).toHaveLength(1);
      client.destroy();
    }
  });

  it('with a body is refused, because two parsers could disagree about where the frames start', async () => {
    const { port, sockets } = await serveSockets();
    for (const framing of [['Content-Length: 5'], ['Transfer-Encoding: chunked']]) {
      const client = await RawClient.sending(port, requestText('GET', path, [...upgradeHeaders, ...framing], 'hello'));
      expect((await client.reply()).status).toBe(400);
      await client.closed;
    }
    expect(sockets).toEqual([]);
  });

  it('elsewhere, or with anything but GET, is an ordinary request', async () => {
    const { port, sockets } = await serveSockets(({ method }) => text(method));
    for (const [method, target] of [
      ['GET', '/elsewhere'],
      ['POST', path],
      ['GET', `${path}/`],
    ] as const) {
      const client = await RawClient.sending(port, requestText(method, target, upgradeHeaders));
      expect(await client.reply()).toMatchObject({ status: 200, body: method });
      client.destroy();
    }
    expect(sockets).toEqual([]);
  });

  it('without a key of the right length is an ordinary request, for which 101 is a fault', async () => {
    const { port, faults } = await serveSockets();
    const headers = upgradeHeaders.map((line) =>
      line.startsWith('Sec-WebSocket-Key') ? 'Sec-WebSocket-Key: a' : line,
    );
    const client = await RawClient.sending(port, requestText('GET', path, headers));
    expect((await client.reply()).status).toBe(500);
    expect(faults).toHaveLength(1);
    client.destroy();
  });
});

describe('frames', () => {
  it('with any characters come and go unchanged', async () => {
    const { url } = await serveSockets();
    const client = await SocketClient.open(url);
    for (const message of ['', 'plain', 'žluť', '\u{1F40E}', '\u0000', 'x'.repeat(4096)]) {
      client.say(message);
      expect(await client.hear()).toBe(message);
    }
  });

  it('that are sent together are answered in their order', async () => {
    const { port } = await serveSockets();
    const socket = await RawSocket.open(port, path);
    socket.send(Buffer.concat(Array.from({ length: 100 }, (_, index) => frameBytes(opcode.text, String(index)))));
    await expect.poll(() => socket.texts.length).toBe(100);
    expect(socket.texts).toEqual(Array.from({ length: 100 }, (_, index) => String(index)));
  });

  it('that come byte by byte, or in fragments with a ping between them, are one message', async () => {
    const { port, sockets } = await serveSockets();
    const socket = await RawSocket.open(port, path);
    for (const byte of frameBytes(opcode.text, 'slowly')) {
      socket.send(Buffer.from([byte]));
      await wait(1);
    }
    socket.send(frameBytes(opcode.text, 'in ', { isLast: false }));
    socket.send(frameBytes(opcode.ping, 'p'));
    socket.send(frameBytes(opcode.continuation, 'three ', { isLast: false }));
    socket.send(frameBytes(opcode.continuation, 'parts'));
    await expect.poll(() => socket.texts).toEqual(['slowly', 'in three parts']);
    expect(socket.frames.find((frame) => frame.opcode === opcode.pong)?.payload.toString()).toBe('p');
    expect(sockets[0]?.pings).toBe(1);
  });

  it('that are binary are reported as such', async () => {
    const { url } = await serveSockets();
    const client = await SocketClient.open(url);
    client.socket.send(new Uint8Array([1, 2, 3]));
    expect(await client.hear()).toBe('binary');
  });

  it.each<[string, readonly Buffer[]]>([
    ['more than 4 KiB', [frameBytes(opcode.text, 'x'.repeat(4097))]],
    [
      'more than 4 KiB in fragments',
      [
        frameBytes(opcode.text, 'x'.repeat(4096), { isLast: false }),
        frameBytes(opcode.continuation, 'x', { isLast: true }),
      ],
    ],
    [
      'the announcement of 2^63 bytes',
      [Buffer.from([0x81, 0xff, 0x7f, 255, 255, 255, 255, 255, 255, 255, 1, 2, 3, 4])],
    ],
    ['text that is not UTF-8', [frameBytes(opcode.text, Buffer.from([0xc3, 0x28]))]],
    ['text that is half of a surrogate pair', [frameBytes(opcode.text, Buffer.from([0xed, 0xa0, 0x80]))]],
    [
      'fragments that are not UTF-8 together',
      [
        frameBytes(opcode.text, Buffer.from([0xc3]), { isLast: false }),
        frameBytes(opcode.continuation, Buffer.from([0x28])),
      ],
    ],
    ['a continuation of nothing', [frameBytes(opcode.continuation, 'x')]],
    ['reserved bits', [frameBytes(opcode.text, 'x', { reserved: 4 })]],
    ['a reserved opcode', [frameBytes(3, 'x')]],
    ['a reserved control opcode', [frameBytes(11, 'x')]],
    ['a ping in fragments', [frameBytes(opcode.ping, 'x', { isLast: false })]],
    ['a ping of 126 bytes', [frameBytes(opcode.ping, 'x'.repeat(126))]],
  ])('with %s cost only their own socket', async (_what, frames) => {
    const { port, url, sockets, faults } = await serveSockets();
    const other = await SocketClient.open(url);
    const socket = await RawSocket.open(port, path);
    for (const frame of frames) socket.send(frame);
    await socket.client.closed;
    await expect.poll(() => sockets[1]?.closings).toBe(1);
    expect(sockets[1]?.heard).toEqual([]);
    other.say('well');
    expect(await other.hear()).toBe('well');
    expect(faults).toEqual([]);
    expect(await askGood(port)).toBe('good');
  });

  it('without a mask affect no other socket', async () => {
    const { port, url } = await serveSockets();
    const other = await SocketClient.open(url);
    const socket = await RawSocket.open(port, path);
    socket.send(frameBytes(opcode.text, 'no mask at all', { isMasked: false }));
    socket.send(frameBytes(opcode.text, 'no mask at all', { isMasked: false }));
    other.say('well');
    expect(await other.hear()).toBe('well');
    socket.client.destroy();
    expect(await askGood(port)).toBe('good');
  });

  it('of random bytes affect no other socket', async () => {
    const { port, url, faults } = await serveSockets();
    const other = await SocketClient.open(url);
    let seed = 1;
    const chance = (): number => (seed = (seed * 48_271) % 2_147_483_647);
    for (let round = 0; round < 200; round += 1) {
      const socket = await RawSocket.open(port, path);
      socket.send(Buffer.from(Array.from({ length: chance() % 200 }, () => chance() % 256)));
      if (round % 2 === 0) socket.client.destroy();
      else socket.client.socket.resetAndDestroy();
    }
    other.say('well');
    expect(await other.hear()).toBe('well');
    expect(faults).toEqual([]);
  });
});

describe('a socket', () => {
  it('that is closed by its listener gets the code and the reason, and the listener is told once', async () => {
    const { url, sockets } = await serveSockets();
    const client = await SocketClient.open(url);
    client.say('close');
    client.say('never read');
    expect(await client.closed).toEqual({ code: 4403, reason: 'asked for' });
    const [echo] = sockets;
    expect(echo).toMatchObject({ closings: 1, heard: ['close'] });
    expect(echo?.socket.send('too late')).toBe('dropped');
    echo?.socket.close(4400, 'again');
    expect(echo?.closings).toBe(1);
  });

  it('is closed with 1011, as the only one, if its listener throws', async () => {
    const { url, faults, sockets } = await serveSockets();
    const [client, other] = [await SocketClient.open(url), await SocketClient.open(url)];
    client.say('throw');
    expect(await client.closed).toMatchObject({ code: 1011 });
    expect(faults).toMatchObject([{ message: 'thrown on purpose' }]);
    expect(sockets[0]?.closings).toBe(1);
    other.say('well');
    expect(await other.hear()).toBe('well');
  });

  it('is closed with 1011 if accepting it fails', async () => {
    const { url, faults } = await serveSockets(undefined, {
      endpoint: {
        accept() {
          throw new Error('not today');
        },
      },
    });
    const client = new SocketClient(url);
    expect(await client.closed).toMatchObject({ code: 1011 });
    expect(faults).toMatchObject([{ message: 'not today' }]);
  });

  it('does no harm if its listener throws at its end', async () => {
    const { url, faults, port } = await serveSockets(undefined, {
      endpoint: {
        accept: (socket) => ({
          message: (message) => socket.send(message),
          binary: () => {},
          ping: () => {},
          closed() {
            throw new Error('at the end');
          },
        }),
      },
    });
    const client = await SocketClient.open(url);
    client.socket.close();
    await expect.poll(() => faults.length).toBe(1);
    expect(await askGood(port)).toBe('good');
  });

  it('of a client that does not read reports that frames are dropped, and can still be closed with a reason', async () => {
    const { port, sockets } = await serveSockets();
    const socket = await RawSocket.open(port, path);
    const [echo] = sockets;
    if (echo === undefined) throw new Error('it was accepted');
    socket.client.socket.pause();
    const answers = new Set<string>();
    const chunk = 'x'.repeat(60_000);
    for (let sent = 0; sent < 2000 && !answers.has('dropped'); sent += 1) answers.add(echo.socket.send(chunk));
    expect([...answers]).toEqual(['sent', 'buffered', 'dropped']);
    echo.socket.close(4503, 'the socket does not read');
    expect(echo.closings).toBe(1);
    socket.client.socket.resume();
    await socket.client.closed;
    const bytes = Buffer.from(socket.client.unread, 'latin1');
    expect(bytes.subarray(-28).toString('latin1')).toContain('the socket does not read');
    expect(await askGood(port)).toBe('good');
  });
});

// These tests wait for pings, and need not wait for each other.
describe.concurrent('a silent socket', () => {
  it('that does not answer pings is dead and is closed', async ({ expect: expectHere }) => {
    const { port, sockets } = await serveSockets(undefined, { endpoint: { idleTimeoutSec: 8 } });
    const dead = await RawSocket.open(port, path);
    // Messages to a socket are no sign that it is alive.
    const pushing = setInterval(() => sockets[0]?.socket.send('push'), 500);
    await expectHere.poll(() => sockets[0]?.closings).toBe(1);
    clearInterval(pushing);
    expectHere(dead.frames.some((frame) => frame.opcode === opcode.ping)).toBe(true);
    dead.client.destroy();
  });

  it('that answers pings stays open without messages', async ({ expect: expectHere }) => {
    const { port, sockets } = await serveSockets(undefined, { endpoint: { idleTimeoutSec: 8 } });
    const socket = await RawSocket.open(port, path);
    const pings = (): number => socket.frames.filter((frame) => frame.opcode === opcode.ping).length;
    for (const count of [1, 2, 3]) {
      await expectHere.poll(pings).toBe(count);
      socket.send(frameBytes(opcode.pong, ''));
    }
    expectHere(sockets[0]?.closings).toBe(0);
    socket.client.destroy();
  });
});

describe('closing the server', () => {
  it('tells every socket to connect elsewhere and is done before the grace period ends', async () => {
    const { url, transport, sockets } = await serveSockets();
    const clients = await Promise.all(Array.from({ length: 50 }, () => SocketClient.open(url)));
    // Longer than the test's own time limit.
    await transport.close(600_000);
    const closings = await Promise.all(clients.map(({ closed }) => closed));
    expect(new Set(closings.map(({ code }) => code))).toEqual(new Set([1012]));
    expect(new Set(sockets.map(({ closings: times }) => times))).toEqual(new Set([1]));
  });

  it('ends sockets that never answer within the grace period', async () => {
    const { port, transport } = await serveSockets();
    const socket = await RawSocket.open(port, path);
    await transport.close(500);
    await socket.client.closed;
    expect(socket.closeCode).toBe(1012);
  });

  it('also closes sockets that are accepted while it closes', async () => {
    let closing: Promise<void> | undefined;
    const server: SocketServer = await serveSockets(() => {
      closing = server.transport.close(5000);
      return switching;
    });
    expect(await new SocketClient(server.url).closed).toMatchObject({ code: 1012 });
    await closing;
  });

  it('does not wait for sockets that are already gone', async () => {
    const { url, transport } = await serveSockets();
    const clients = await Promise.all(Array.from({ length: 5 }, () => SocketClient.open(url)));
    for (const client of clients) client.socket.close();
    await Promise.all(clients.map(({ closed }) => closed));
    // Longer than the test's own time limit.
    await transport.close(600_000);
  });
});
