import { afterEach, describe, expect, it } from 'vitest';
import type { SocketListener } from '../../src/kernel/socket.ts';
import { RawClient, requestText } from '../support/raw-http.ts';
import { RawSocket } from '../support/socket-client.ts';
import { askGood, closeServers, serve, text } from '../support/transport-server.ts';

afterEach(closeServers);

describe('a request', () => {
  it('reaches the handler as plain values and its reply comes back whole', async () => {
    const { port, requests } = await serve((request) => text(`got ${request.body.toString()}`, [['X-One', '1']]));
    const before = Date.now();
    const response = await fetch(`http://127.0.0.1:${port}/a/%20b?x=1&y=%3F?`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Any': 'thing' },
      body: '{"é":1}',
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-one')).toBe('1');
    expect(await response.text()).toBe('got {"é":1}');
    const [request] = requests;
    expect(request).toMatchObject({ method: 'POST', path: '/a/%20b', query: 'x=1&y=%3F?', peer: '127.0.0.1' });
    expect(request?.headers['content-type']).toBe('application/json');
    expect(request?.headers['x-any']).toBe('thing');
    expect(request?.headers['host']).toBe(`127.0.0.1:${port}`);
    expect(request?.headers['cookie']).toBeUndefined();
    expect(request?.duplicates).toEqual([]);
    expect(request?.requestId).toMatch(/^req_/);
    expect(request?.atMs).toBeGreaterThanOrEqual(before);
    expect(request?.atMs).toBeLessThanOrEqual(Date.now());
  });

  it('can still be read after the handler has waited', async () => {
    const { port } = await serve(async (request) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      return text(
        [request.method, request.path, request.query, request.headers['x-any'], request.peer, request.body].join(' '),
      );
    });
    const response = await fetch(`http://127.0.0.1:${port}/p?q`, {
      method: 'PUT',
      headers: { 'X-Any': 'x' },
      body: 'body',
    });
    expect(await response.text()).toBe('PUT /p q x 127.0.0.1 body');
  });

  it('has an empty query if none was sent, and an id of its own', async () => {
    const { port, requests } = await serve(() => text(''));
    const client = await RawClient.connect(port);
    for (const path of ['/plain', '/mark?']) {
      client.send(requestText('GET', path));
      await client.reply();
    }
    expect(requests.map(({ path, query }) => [path, query])).toEqual([
      ['/plain', ''],
      ['/mark', ''],
    ]);
    expect(requests[0]?.requestId).not.toBe(requests[1]?.requestId);
    client.destroy();
  });

  it('keeps its method as it was written, known or not', async () => {
    const { port, requests } = await serve(() => text(''));
    const client = await RawClient.connect(port);
    for (const method of ['DELETE', 'PATCH', 'OPTIONS', 'PROPFIND', 'get']) {
      client.send(requestText(method, '/'));
      await client.reply();
    }
    expect(requests.map((request) => request.method)).toEqual(['DELETE', 'PATCH', 'OPTIONS', 'PROPFIND', 'get']);
    client.destroy();
  });

  it('reports a header that must be single and came more than once, and hides its values', async () => {
    const { port, requests } = await serve(() => text(''));
    const names = ['Origin', 'Cookie', 'Authorization', 'Content-Type', 'Idempotency-Key', 'Sec-Fetch-Site'];
    const client = await RawClient.connect(port);
    for (const name of names) {
      client.send(requestText('GET', '/', [`${name}: a`, 'X-Between: 1', `${name.toLowerCase()}: b`, `${name}: c`]));
      await client.reply();
    }
    for (const [i, name] of names.entries()) {
      expect(requests[i]?.duplicates).toEqual([name.toLowerCase()]);
      expect(requests[i]?.headers[name.toLowerCase()]).toBeUndefined();
      expect(requests[i]?.headers['x-between']).toBe('1');
    }
    client.destroy();
  });

  it('joins the lines of a header that is a list, in order', async () => {
    const { port, requests } = await serve(() => text(''));
    const lines = ['X-Forwarded-For: 1.1.1.1, 2.2.2.2', 'Accept: a', 'X-Forwarded-For: 3.3.3.3', 'Accept: b'];
    const client = await RawClient.sending(port, requestText('GET', '/', lines));
    await client.reply();
    expect(requests[0]?.headers['x-forwarded-for']).toBe('1.1.1.1, 2.2.2.2, 3.3.3.3');
    expect(requests[0]?.headers['accept']).toBe('a, b');
    expect(requests[0]?.duplicates).toEqual([]);
    client.destroy();
  });

  it('may carry headers named like parts of a JavaScript object', async () => {
    const { port, requests } = await serve(() => text(''));
    const lines = ['constructor: a', 'toString: b', 'hasOwnProperty: c', '__proto__: d'];
    const client = await RawClient.sending(port, requestText('GET', '/', lines));
    await client.reply();
    const headers = requests[0]?.headers;
    expect([headers?.['constructor'], headers?.['tostring'], headers?.['__proto__']]).toEqual(['a', 'b', 'd']);
    expect(headers?.['valueof']).toBeUndefined();
    expect(headers?.['valueOf']).toBeUndefined();
    client.destroy();
  });

  it('may carry 15 KiB of headers but not 17', async () => {
    const { port } = await serve(() => text('fine'));
    const fits = await RawClient.sending(port, requestText('GET', '/', [`Cookie: ${'a'.repeat(15_000)}`]));
    expect((await fits.reply()).body).toBe('fine');
    fits.destroy();
    const exceeds = await RawClient.sending(port, requestText('GET', '/', [`Cookie: ${'a'.repeat(17_000)}`]));
    expect(await exceeds.rest()).toMatch(/^HTTP\/1\.1 431 /);
    expect(await askGood(port)).toBe('good');
  });

  it('comes from an IPv6 peer with its address in short form', async () => {
    const { port, requests, transport } = await serve(() => text(''), { host: '::1' });
    const client = await RawClient.connect(port, '::1');
    client.send(requestText('GET', '/'));
    await client.reply();
    expect(requests[0]?.peer).toBe('::1');
    expect(transport.address).toBe(`[::1]:${port}`);
    client.destroy();
  });

  it('has the address of its own connection, whichever others connect, close, or become sockets', async () => {
    const path = '/socket';
    const accept = (): SocketListener => ({
      message: () => undefined,
      binary: () => undefined,
      ping: () => undefined,
      closed: () => undefined,
    });
    const { port, requests, transport } = await serve(
      (request) => (request.path === path ? { status: 101, headers: [], body: '' } : text('')),
      { host: '::', sockets: [{ path, accept, subprotocol: 'any' }] },
    );
    const connect = (host: string) => RawClient.connect(port, host);
    const peersOf = async (...clients: RawClient[]): Promise<unknown[]> => {
      const peers = [];
      for (const client of clients) {
        client.send(requestText('GET', '/'));
        await client.reply();
        peers.push(requests.at(-1)?.peer);
      }
      return peers;
    };
    const close = async (...clients: RawClient[]): Promise<void> => {
      const left = transport.connections - clients.length;
      for (const client of clients) client.destroy();
      await expect.poll(() => transport.connections).toBe(left);
    };
    const four = '127.0.0.1';
    const six = '::1';
    const [first, second] = [await connect(four), await connect(four)];
    expect(await peersOf(first, second)).toEqual([four, four]);
    const third = await connect(six);
    expect(await peersOf(first, third, second)).toEqual([four, six, four]);
    await close(second);
    expect(await peersOf(third, first)).toEqual([six, four]);
    await close(third);
    const fourth = await connect(six);
    expect(await peersOf(first, fourth)).toEqual([four, six]);
    await close(first, fourth);
    const socket = await RawSocket.open(port, path);
    const fifth = await connect(six);
    expect(await peersOf(fifth)).toEqual([six]);
    await close(fifth);
    const sixth = await connect(four);
    expect(await peersOf(sixth)).toEqual([four]);
    socket.client.destroy();
    sixth.destroy();
  });

  it('has an id that is unique in this process', async () => {
    const { port, requests } = await serve(() => text(''));
    const client = await RawClient.connect(port);
    // More requests than the two digits at the end of an id can tell apart.
    for (let sent = 0; sent < 1400; sent += 1) {
      client.send(requestText('GET', '/'));
      await client.reply();
    }
    expect(new Set(requests.map(({ requestId }) => requestId)).size).toBe(1400);
    client.destroy();
  });

  it('from an IPv4 peer to an IPv6 listener has a plain IPv4 address', async () => {
    const { port, requests } = await serve(() => text(''), { host: '::' });
    const client = await RawClient.sending(port, requestText('GET', '/'));
    await client.reply();
    expect(requests[0]?.peer).toBe('127.0.0.1');
    client.destroy();
  });
});

describe('a reply', () => {
  it('to HEAD has the headers and the body’s length, and no body', async () => {
    const { port } = await serve(() => text('twelve bytes', [['X-One', '1']]));
    const client = await RawClient.sending(port, requestText('HEAD', '/'));
    const reply = await client.reply({ toHead: true });
    expect(reply.status).toBe(200);
    expect(reply.headers['content-length']).toBe('12');
    expect(reply.headers['x-one']).toBe('1');
    client.send(requestText('GET', '/good'));
    // The connection stays open, and no byte of a body precedes the second reply's head.
    expect((await client.reply()).head).toMatch(/^HTTP\/1\.1 200 OK/);
    client.destroy();
  });

  it.each([204, 304])('with status %i has neither body nor length and keeps the connection', async (status) => {
    const { port } = await serve(() => ({ status, headers: [['X-One', '1']], body: 'ignored' }));
    const client = await RawClient.sending(port, requestText('GET', '/'));
    const reply = await client.reply();
    expect(reply.status).toBe(status);
    expect(reply.headers['content-length']).toBeUndefined();
    expect(reply.headers['x-one']).toBe('1');
    client.send(requestText('GET', '/good'));
    expect((await client.reply()).body).toBe('good');
    client.destroy();
  });

  it('carries text as UTF-8 and bytes as they are, with the length in bytes', async () => {
    const bytes = Buffer.from([0, 255, 10, 13, 128]);
    const { port } = await serve((request) => text(request.path === '/bytes' ? bytes : 'héllo €'));
    const asText = await fetch(`http://127.0.0.1:${port}/text`);
    expect(asText.headers.get('content-length')).toBe('10');
    expect(await asText.text()).toBe('héllo €');
    const asBytes = await fetch(`http://127.0.0.1:${port}/bytes`);
    expect(Buffer.from(await asBytes.arrayBuffer())).toEqual(bytes);
  });

  it('of two megabytes arrives whole, and several headers of one name stay several', async () => {
    const { port } = await serve(() =>
      text('x'.repeat(2_000_000), [
        ['Set-Cookie', 'a=1'],
        ['Set-Cookie', 'b=2'],
      ]),
    );
    const response = await fetch(`http://127.0.0.1:${port}/`);
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect((await response.text()).length).toBe(2_000_000);
  });

  it('has every status that HTTP names', async () => {
    const { port } = await serve((request) => ({ status: Number(request.query), headers: [], body: '' }));
    const client = await RawClient.connect(port);
    for (const [status, line] of [
      [201, '201 Created'],
      [413, '413 Payload Too Large'],
      [429, '429 Too Many Requests'],
      [503, '503 Service Unavailable'],
    ] as const) {
      client.send(requestText('GET', `/?${status}`));
      expect((await client.reply()).head.split('\r\n')[0]).toBe(`HTTP/1.1 ${line}`);
    }
    client.destroy();
  });

  it('reaches each of 16 connections that ask 50 times', async () => {
    const { port } = await serve((request) =>
      request.path.endsWith('0') ? Promise.resolve(text(`late ${request.path}`)) : text(`now ${request.path}`),
    );
    const ask = async (connection: number): Promise<string[]> => {
      const client = await RawClient.connect(port);
      const bodies: string[] = [];
      for (let i = 0; i < 50; i += 1) {
        client.send(requestText('POST', `/${connection}/${i}`, [], `body ${i}`));
        bodies.push((await client.reply()).body);
      }
      client.destroy();
      return bodies;
    };
    const all = await Promise.all(Array.from({ length: 16 }, (_, connection) => ask(connection)));
    for (const [connection, bodies] of all.entries()) {
      const expected = Array.from({ length: 50 }, (_, i) => `${i % 10 === 0 ? 'late' : 'now'} /${connection}/${i}`);
      expect(bodies).toEqual(expected);
    }
  });
});

describe('listening', () => {
  it('on a port in use fails with an error that names the address', async () => {
    const { port } = await serve(() => text(''));
    await expect(serve(() => text(''), { port })).rejects.toThrow(`Cannot listen on 127.0.0.1 port ${port}`);
    expect(await askGood(port)).toBe('good');
  });

  it('reports the address it is bound to', async () => {
    const { port, transport } = await serve(() => text(''));
    expect(port).toBeGreaterThan(0);
    expect(transport.address).toBe(`127.0.0.1:${port}`);
  });
});
