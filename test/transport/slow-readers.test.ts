import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { RawClient, requestText } from '../support/raw-http.ts';
import { askGood, closeServers, serve, text } from '../support/transport-server.ts';

afterEach(closeServers);

/** More than the kernel buffers for a client that does not read. */
const size = 16 * 1024 * 1024;
const large = Buffer.alloc(size);
for (let at = 0; at < size; at += 4) large.writeUInt32LE(at, at);

const get = requestText('GET', '/large');

describe('a reply that is too large for the connection', () => {
  it('is not made again for a client that has not read the first', async () => {
    const { port, requests } = await serve(() => text(large));
    const client = await RawClient.sending(port, get);
    client.socket.pause();
    await delay(100);
    client.socket.write(get);
    await once(client.socket.resume(), 'close');
    expect(requests).toHaveLength(1);
    expect(await askGood(port)).toBe('good');
  });

  it.each([
    ['at once', (): Promise<ReturnType<typeof text>> | ReturnType<typeof text> => text(large)],
    ['later', async () => delay(10, text(large))],
  ])('reaches a client whole that reads late, and the connection stays usable (made %s)', async (_when, handle) => {
    const { port, requests } = await serve(handle);
    const client = await RawClient.sending(port, requestText('GET', '/large'));
    client.socket.pause();
    await delay(100);
    client.socket.resume();
    expect((await client.reply()).headers['content-length']).toBe(String(size));
    client.socket.write(requestText('GET', '/good'));
    expect((await client.reply()).body).toBe('good');
    expect(requests).toHaveLength(2);
  });

  it('may be text of any characters', async () => {
    const words = 'ä€😀'.repeat(500_000);
    const { port } = await serve(() => text(words));
    const reply = await fetch(`http://127.0.0.1:${port}/large`);
    expect(await reply.text()).toBe(words);
  });

  it('has its bytes in order', async () => {
    const { port } = await serve(() => text(large));
    const reply = await fetch(`http://127.0.0.1:${port}/large`);
    expect(large.equals(Buffer.from(await reply.arrayBuffer()))).toBe(true);
  });

  it('is given up quietly if the client goes away in the middle', async () => {
    const { port, faults } = await serve(() => text(large));
    const client = await RawClient.sending(port, get);
    client.socket.pause();
    await delay(50);
    client.socket.destroy();
    await client.closed;
    await delay(50);
    expect(await askGood(port)).toBe('good');
    expect(faults).toEqual([]);
  });
});

describe('small replies', () => {
  it('are not made endlessly for a client that does not read them', async () => {
    const asked = 20_000;
    const { port, requests } = await serve(() => text('x'.repeat(8000)));
    const client = await RawClient.sending(port, requestText('GET', '/').repeat(asked));
    client.socket.pause();
    // A client that does not read learns only by writing that the connection is gone.
    const ask = (): string | undefined => {
      client.send(requestText('GET', '/'));
      return client.brokenBy;
    };
    await expect.poll(ask).toBeDefined();
    expect(requests.length).toBeLessThan(asked);
    expect(await askGood(port)).toBe('good');
  });

  it.each([
    ['HEAD', text('good')],
    ['OPTIONS', { status: 204, headers: [], body: '' }],
    ['GET', { status: 304, headers: [], body: '' }],
  ])('without a body end a connection that does not wait for them (%s)', async (method, reply) => {
    const { port, requests } = await serve(() => reply);
    const client = await RawClient.sending(port, requestText(method, '/').repeat(3));
    await client.closed;
    expect(requests).toHaveLength(1);
  });

  it.each([
    ['HEAD', text('good')],
    ['OPTIONS', { status: 204, headers: [], body: '' }],
    ['GET', text('good')],
  ])('are made one after the other for a client that waits for each (%s)', async (method, reply) => {
    const { port, requests } = await serve(() => reply);
    const client = await RawClient.sending(port, requestText(method, '/'));
    for (let replies = 1; replies <= 40; replies += 1) {
      expect((await client.reply({ toHead: method === 'HEAD' })).status).toBe(reply.status);
      if (replies < 40) client.send(requestText(method, '/'));
    }
    expect(requests).toHaveLength(40);
    client.destroy();
  });
});
