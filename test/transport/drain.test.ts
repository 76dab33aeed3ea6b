import { afterEach, describe, expect, it } from 'vitest';
import type { HttpReply } from '../../src/http/message.ts';
import { RawClient, requestText } from '../support/raw-http.ts';
import { closeServers, serve, text } from '../support/transport-server.ts';

afterEach(closeServers);

/** A handler whose reply to /wait comes when the test gives it. */
function held(): { handle: () => Promise<HttpReply>; answer: (reply: HttpReply) => void } {
  let answer: (reply: HttpReply) => void = () => {};
  const reply = new Promise<HttpReply>((resolve) => {
    answer = resolve;
  });
  return { handle: () => reply, answer: (value) => answer(value) };
}

describe('closing', () => {
  it('lets a pending reply finish, which asks the client to close, and only then resolves', async () => {
    const { handle, answer } = held();
    const { port, transport, requests } = await serve(handle);
    const client = await RawClient.sending(port, requestText('POST', '/wait', [], 'x'));
    await expect.poll(() => requests.length).toBe(1);
    let isClosed = false;
    const closing = transport.close(5000).then(() => {
      isClosed = true;
    });
    await expect.poll(() => RawClient.connect(port).catch(String)).toMatch(/ECONNREFUSED/);
    expect(isClosed).toBe(false);
    answer(text('finished'));
    expect(await client.reply()).toMatchObject({ body: 'finished', headers: { connection: 'close' } });
    await client.closed;
    await closing;
  });

  it('answers requests on open connections and asks those clients to close', async () => {
    const { handle, answer } = held();
    const { port, transport, requests } = await serve((request) => (request.path === '/wait' ? handle() : text('now')));
    const waiting = await RawClient.sending(port, requestText('GET', '/wait'));
    const open = await RawClient.sending(port, requestText('GET', '/good'));
    expect((await open.reply()).headers['connection']).toBeUndefined();
    await expect.poll(() => requests.length).toBe(2);
    const closing = transport.close(5000);
    open.send(requestText('GET', '/again'));
    expect(await open.reply()).toMatchObject({ body: 'now', headers: { connection: 'close' } });
    expect(await open.rest()).toBe('');
    answer(text('finished'));
    expect((await waiting.reply()).body).toBe('finished');
    await closing;
  });

  it('serves connections that the kernel has accepted and the process has not seen yet', async () => {
    const { port, transport } = await serve(() => text(''));
    const clients = Array.from({ length: 20 }, () => RawClient.sending(port, requestText('GET', '/good')));
    // A connection to this machine is complete when the call that makes it returns, which is one tick later.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    const closing = transport.close(5000);
    for (const client of await Promise.all(clients))
      expect(await client.reply()).toMatchObject({ body: 'good', headers: { connection: 'close' } });
    await closing;
  });

  it('waits for a body that is still arriving', async () => {
    const { port, transport, requests } = await serve((request) => text(request.body.toString()));
    const client = await RawClient.sending(port, requestText('POST', '/', ['Content-Length: 6'], 'abc'));
    const other = await RawClient.sending(port, requestText('GET', '/good'));
    await other.reply();
    const closing = transport.close(5000);
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(requests.map(({ path }) => path)).toEqual(['/good']);
    client.send('def');
    expect((await client.reply()).body).toBe('abcdef');
    await closing;
  });

  it('closes idle connections and resolves without waiting for the grace period', async () => {
    const { port, transport } = await serve(() => text(''));
    const idle = await RawClient.connect(port);
    const used = await RawClient.sending(port, requestText('GET', '/good'));
    await used.reply();
    // Longer than the test's own time limit.
    await transport.close(600_000);
    await Promise.all([idle.closed, used.closed]);
  });

  it('cuts off what is still pending when the grace period is over', async () => {
    const { port, transport, requests } = await serve(() => new Promise(() => {}));
    const client = await RawClient.sending(port, requestText('GET', '/wait'));
    await expect.poll(() => requests.length).toBe(1);
    await transport.close(300);
    expect(await client.rest()).toBe('');
    expect(requests[0]?.signal().aborted).toBe(true);
  });

  it('twice has the same effect as once', async () => {
    const { transport } = await serve(() => text(''));
    expect(transport.close(1000)).toBe(transport.close(0));
    await transport.close(0);
  });

  it('frees the port for the next server', async () => {
    const first = await serve(() => text('first'));
    await first.transport.close(0);
    const second = await serve(() => text('second'), { port: first.port });
    const client = await RawClient.sending(second.port, requestText('GET', '/'));
    expect((await client.reply()).body).toBe('second');
    client.destroy();
  });
});
