import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import type { HttpReply } from '../../src/http/message.ts';
import { RawClient, requestText } from '../support/raw-http.ts';
import { askGood, closeServers, serve, text } from '../support/transport-server.ts';

afterEach(closeServers);

const PART = 'x'.repeat(1024 * 1024);
const get = requestText('GET', '/parts');

const inParts = (parts: AsyncIterable<string>): HttpReply => ({ ...text(''), parts });

async function* listed(...parts: readonly string[]): AsyncGenerator<string> {
  yield* parts;
}

/** Endless parts: how many were made, and whether they were closed. */
function endless() {
  const made = { count: 0, isClosed: false };
  async function* parts(): AsyncGenerator<string> {
    try {
      for (;;) {
        made.count += 1;
        yield PART;
      }
    } finally {
      made.isClosed = true;
    }
  }
  return { made, parts: parts() };
}

describe('a body that comes in parts', () => {
  it('arrives whole and in order, with any characters, and the connection stays usable', async () => {
    const { port, faults } = await serve(() => inParts(listed('one\n', '', 'zwei ä€😀\n', PART, 'end\n')));
    const url = `http://127.0.0.1:${port}`;
    const reply = await fetch(`${url}/parts`);
    expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'text/plain']);
    expect(await reply.text()).toBe(`one\nzwei ä€😀\n${PART}end\n`);
    expect(await (await fetch(`${url}/parts`)).text()).toHaveLength(PART.length + 18);
    expect(faults).toEqual([]);
  });

  it('arrives whole where the connection ends with it: after a request in chunks, and while the server drains', async () => {
    const { port, transport, faults } = await serve(() => inParts(listed('one\n', PART, 'end\n')));
    const inChunks = requestText('POST', '/parts', ['Transfer-Encoding: chunked'], '1\r\nx\r\n0\r\n\r\n');
    const [head, body] = (await (await RawClient.sending(port, inChunks)).rest()).split('\r\n\r\n');
    expect(head).toContain('\r\nConnection: close');
    expect(body).toBe(`one\n${PART}end\n`);

    const draining = await serve(() => inParts(listed('one\n', 'end\n')));
    const late = await RawClient.sending(draining.port, get.slice(0, 20));
    const closing = draining.transport.close(60_000);
    late.send(get.slice(20));
    expect(await late.rest()).toMatch(/\r\nConnection: close\r\n[^]*\r\n\r\none\nend\n$/u);
    await Promise.all([closing, transport.close(0)]);
    expect([...faults, ...draining.faults]).toEqual([]);
  });

  it('may be empty', async () => {
    const { port } = await serve(() => inParts(listed()));
    expect(await (await fetch(`http://127.0.0.1:${port}/parts`)).text()).toBe('');
  });

  it('is neither sent nor made for HEAD', async () => {
    const { made, parts } = endless();
    const { port } = await serve(() => inParts(parts));
    const reply = await fetch(`http://127.0.0.1:${port}/parts`, { method: 'HEAD' });
    expect([reply.status, reply.headers.get('content-length'), made.count]).toEqual([200, null, 0]);
    expect(await askGood(port)).toBe('good');
  });

  it('is made no faster than the client reads, and no longer once it has gone', async () => {
    const { made, parts } = endless();
    const { port, faults, transport } = await serve(() => inParts(parts));
    const client = await RawClient.sending(port, get);
    client.socket.pause();
    // Once the kernel's buffers are full, the count stays the same.
    let before = -1;
    await expect
      .poll(
        () => {
          const isSame = made.count === before;
          before = made.count;
          return isSame;
        },
        { interval: 200 },
      )
      .toBe(true);
    const held = made.count;
    expect(held).toBeLessThan(64);
    client.socket.resume();
    await expect.poll(() => made.count).toBeGreaterThan(held + 16);
    client.socket.destroy();
    await expect.poll(() => made.isClosed).toBe(true);
    expect(await askGood(port)).toBe('good');
    expect(faults).toEqual([]);
    await transport.close(0);
  });

  it('keeps at most a part waiting in memory, however little the client takes at a time', async () => {
    const size = 8 * PART.length;
    let made = 0;
    async function* large(): AsyncGenerator<string> {
      for (;;) {
        made += 1;
        yield PART.repeat(8);
      }
    }
    const { port } = await serve(() => inParts(large()));
    const client = await RawClient.sending(port, get);
    let read = 0;
    await new Promise<void>((resolve) => {
      client.socket.on('data', (chunk: Buffer) => {
        read += chunk.length;
        client.socket.pause();
        setImmediate(() => client.socket.resume());
        if (read > 4 * size) resolve();
      });
    });
    // The kernel buffers some of it as well, on both sides.
    expect(made * size - read).toBeLessThan(8 * size);
    client.socket.destroy();
  });

  it('is cut off if its parts fail, so that nobody takes half for the whole', async () => {
    async function* failing(): AsyncGenerator<string> {
      yield 'half';
      throw new Error('the database is away');
    }
    const { port, faults } = await serve(() => inParts(failing()));
    const whole = fetch(`http://127.0.0.1:${port}/parts`).then((reply) => reply.text());
    await expect(whole).rejects.toThrow(TypeError);
    expect(faults).toEqual([new Error('the database is away')]);
    expect(await askGood(port)).toBe('good');
  });

  it('delays a drain, which cuts it off after waiting long enough', async () => {
    let finish: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => {
      finish = resolve;
    });
    async function* slow(): AsyncGenerator<string> {
      yield 'first';
      await asked;
      yield 'last';
    }
    const { port, transport } = await serve(() => inParts(slow()));
    const reply = await fetch(`http://127.0.0.1:${port}/parts`);
    const closing = transport.close(60_000);
    finish();
    expect(await reply.text()).toBe('firstlast');
    await closing;

    const other = await serve(() => inParts(endless().parts));
    const client = await RawClient.sending(other.port, get);
    client.socket.pause();
    await once(client.socket, 'readable');
    await other.transport.close(0);
    client.socket.resume();
    await client.closed;
  });

  it('ends the connection when another request comes before it is whole', async () => {
    const { made, parts } = endless();
    const { port, requests } = await serve(() => inParts(parts));
    const client = await RawClient.sending(port, get);
    await expect.poll(() => made.count).toBeGreaterThan(0);
    client.send(get);
    await client.closed;
    expect(requests).toHaveLength(1);
    await expect.poll(() => made.isClosed).toBe(true);
  });
});
