import { afterEach, describe, expect, it, vi } from 'vitest';
import type { HttpReply, HttpRequest } from '../../src/http/message.ts';
import { RawClient, requestText } from '../support/raw-http.ts';
import { soon } from '../support/soon.ts';
import { askGood, closeServers, serve, text } from '../support/transport-server.ts';

afterEach(() => void vi.useRealTimers());
afterEach(closeServers);

function measure(request: HttpRequest): HttpReply {
  if (request.body === 'too_large') return { status: 413, headers: [], body: 'too large' };
  return text(
    `${request.body.length} ${request.body.subarray(0, 1).toString()}${request.body.subarray(-1).toString()}`,
  );
}

const limit = 65_536;
const chunked = 'Transfer-Encoding: chunked';

describe('a body', () => {
  it('exactly at the limit is passed on whole', async () => {
    const { port } = await serve(measure);
    const body = `a${'x'.repeat(limit - 2)}z`;
    expect(await (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body })).text()).toBe('65536 az');
  });

  it('is reported as unfinished when its client leaves before all of it has come, and only then', async () => {
    const unfinished: string[] = [];
    const { port } = await serve(measure, { onUnfinished: ({ path }) => unfinished.push(path) });
    const whole = await RawClient.sending(port, requestText('POST', '/whole', [], 'ab'));
    await whole.reply();
    const large = await RawClient.sending(port, requestText('POST', '/large', ['Content-Length: 999999999']));
    await large.reply();
    for (const client of [whole, large]) client.destroy();
    for (const sent of [['Content-Length: 9'], [chunked]]) {
      const client = await RawClient.sending(port, requestText('POST', `/${unfinished.length}`, sent));
      client.send(sent[0] === chunked ? '2\r\nab\r\n' : 'ab');
      // This request is served later, so the server has read whatever was sent before it.
      await askGood(port);
      client.destroy();
      await expect.poll(() => unfinished.length, soon).toBeGreaterThan(Number(sent[0] === chunked));
    }
    expect(unfinished).toEqual(['/0', '/1']);
  });

  it('one byte over the limit is too large, and the connection closes after the reply', async () => {
    const { port, requests } = await serve(measure);
    const client = await RawClient.sending(port, requestText('POST', '/', [], 'x'.repeat(limit + 1)));
    const reply = await client.reply();
    expect(reply).toMatchObject({ status: 413, body: 'too large', headers: { connection: 'close' } });
    expect(await client.rest()).toBe('');
    expect(requests).toHaveLength(1);
    expect(await askGood(port)).toBe('good');
  });

  it('that is announced as too large is answered without being sent', async () => {
    const { port } = await serve(measure);
    const client = await RawClient.sending(port, requestText('POST', '/', ['Content-Length: 999999999']));
    expect((await client.reply()).status).toBe(413);
    expect(await client.rest()).toBe('');
    expect(await askGood(port)).toBe('good');
  });

  it('of a megabyte always gets its 413 through to an ordinary client', async () => {
    const { port } = await serve(measure);
    for (let i = 0; i < 20; i += 1) {
      const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: 'x'.repeat(1_000_000) });
      expect([response.status, await response.text()]).toEqual([413, 'too large']);
    }
  });

  it('that is too large and still being sent is read on, so that the reply is not lost to a reset', async () => {
    // The speed of a slow machine must not decide: with fake timers the rest of the body is awaited without a time limit.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const length = 1_000_000;
    let arrived = (): void => {};
    const known = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const { port } = await serve((request) => {
      arrived();
      return measure(request);
    });
    const client = await RawClient.sending(port, requestText('POST', '/', [`Content-Length: ${length}`], 'x'));
    await known;
    for (let sent = 1; sent < length; sent += 50_000) {
      client.send('x'.repeat(Math.min(50_000, length - sent)));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await client.reply()).status).toBe(413);
    await client.closed;
    expect(client.brokenBy).toBeUndefined();
    expect(client.socket.bytesWritten).toBeGreaterThan(length);
  });

  it('that is too large is refused by an asynchronous handler as well', async () => {
    const { port } = await serve(async (request) => {
      await Promise.resolve();
      return measure(request);
    });
    const client = await RawClient.sending(port, requestText('POST', '/', [], 'x'.repeat(limit * 2)));
    expect((await client.reply()).status).toBe(413);
    expect(await client.rest()).toBe('');
  });

  it('that arrives byte by byte is assembled', async () => {
    const { port } = await serve(measure);
    const client = await RawClient.sending(port, requestText('POST', '/', ['Content-Length: 5']));
    for (const byte of 'abcde') {
      client.send(byte);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await client.reply()).body).toBe('5 ae');
    client.destroy();
  });

  it('in chunks is assembled, and the connection closes after the reply', async () => {
    const { port } = await serve(measure);
    const client = await RawClient.sending(
      port,
      requestText('POST', '/', [chunked], '3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n'),
    );
    expect(await client.reply()).toMatchObject({ body: '7 ag', headers: { connection: 'close' } });
    expect(await client.rest()).toBe('');
  });

  it('in chunks is accepted from fetch', async () => {
    const { port } = await serve(measure);
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('first '));
        controller.enqueue(new TextEncoder().encode('second'));
        controller.close();
      },
    });
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body, duplex: 'half' });
    expect(await response.text()).toBe('12 fd');
  });

  it.each([
    ['5;a=b\r\n{"a":\r\n0\r\n\r\n'],
    ['5;a=b\r\n{"a":\r\n', '2\r\n1}\r\n', '0\r\n\r\n'],
    ['7\r\n{"a":1}\r\n0;a=b\r\n\r\n'],
  ])('in chunks with extensions is refused with a message, because the library would wait (%j)', async (...parts) => {
    const { port, requests } = await serve(measure);
    const client = await RawClient.sending(port, requestText('POST', '/', [chunked]));
    for (const part of parts) {
      client.send(part);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await client.reply()).toMatchObject({ status: 400, headers: { connection: 'close' } });
    expect(await client.rest()).toBe('');
    expect(requests).toEqual([]);
  });

  it('in chunks that end in line breaks is assembled while more of them arrive', async () => {
    const { port } = await serve(measure);
    const client = await RawClient.sending(port, requestText('POST', '/', [chunked], '5\r\nabc\r\n\r\n'));
    await new Promise((resolve) => setImmediate(resolve));
    client.send('3\r\ndef\r\n');
    await new Promise((resolve) => setImmediate(resolve));
    client.send('0\r\n\r\n');
    expect((await client.reply()).body).toBe('8 af');
  });

  it('in chunks with announced trailers is refused with a message, and nothing after it is served', async () => {
    const { port, requests } = await serve(measure);
    const body = '3\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n';
    const hidden = requestText('GET', '/hidden');
    const client = await RawClient.sending(port, requestText('POST', '/', [chunked, 'Trailer: X-Sum'], body + hidden));
    const reply = await client.reply();
    expect(reply).toMatchObject({ status: 400, headers: { connection: 'close' } });
    expect(JSON.parse(reply.body)).toMatchObject({ code: 'INVALID_REQUEST' });
    expect(await client.rest()).toBe('');
    expect(requests).toEqual([]);
  });

  it('in chunks that add up to more than the limit is too large', async () => {
    const { port } = await serve(measure);
    const client = await RawClient.sending(port, requestText('POST', '/', [chunked]));
    const chunk = `8000\r\n${'x'.repeat(0x8000)}\r\n`;
    client.send(`${chunk}${chunk}${chunk}`);
    expect((await client.reply()).status).toBe(413);
    expect(await client.rest()).toBe('');
    expect(await askGood(port)).toBe('good');
  });

  it.each(['GET', 'HEAD'])('of %s is read and dropped, and the connection stays in step', async (method) => {
    const { port, requests } = await serve(measure);
    const client = await RawClient.sending(
      port,
      requestText(method, '/', [], 'GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n'),
    );
    expect((await client.reply({ toHead: method === 'HEAD' })).status).toBe(200);
    client.send(requestText('GET', '/good'));
    expect((await client.reply()).body).toBe('good');
    expect(requests.map(({ path }) => path)).toEqual(['/', '/good']);
    expect(requests[0]?.body).toHaveLength(0);
    client.destroy();
  });

  it('is not changed by later requests', async () => {
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { port } = await serve(async (request) => {
      if (request.path === '/wait') await gate;
      return text(request.body.toString());
    });
    const waiting = await RawClient.sending(port, requestText('POST', '/wait', [], 'the first body'));
    const others = await RawClient.connect(port);
    for (let i = 0; i < 200; i += 1) {
      others.send(requestText('POST', '/', [], `OTHER ${i}`));
      await others.reply();
    }
    release();
    expect((await waiting.reply()).body).toBe('the first body');
    waiting.destroy();
    others.destroy();
  });

  it('that the client never finishes costs no handler call', async () => {
    const { port, requests } = await serve(measure);
    const client = await RawClient.sending(port, requestText('POST', '/', ['Content-Length: 10'], 'abc'));
    expect(await askGood(port)).toBe('good');
    client.destroy();
    await client.closed;
    expect(await askGood(port)).toBe('good');
    expect(requests.map(({ path }) => path)).toEqual(['/good', '/good']);
  });
});
