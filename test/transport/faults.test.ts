import { afterEach, describe, expect, it, vi } from 'vitest';
import type { HttpReply } from '../../src/http/message.ts';
import { ReplyDeadlineExceeded } from '../../src/kernel/errors.ts';
import { RawClient, requestText } from '../support/raw-http.ts';
import { askGood, closeServers, serve, text } from '../support/transport-server.ts';

afterEach(closeServers);

async function ask(port: number, path = '/'): Promise<{ status: number; body: string }> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', body: 'x' });
  return { status: response.status, body: await response.text() };
}

describe('a handler that', () => {
  it('throws is answered by onFault', async () => {
    const { port, faults } = await serve(() => {
      throw new Error('at once');
    });
    expect(await ask(port)).toEqual({ status: 500, body: 'Error: at once' });
    expect(faults).toHaveLength(1);
    expect(await askGood(port)).toBe('good');
  });

  it('throws on a request without a body is answered as well', async () => {
    const { port } = await serve(() => {
      throw new Error('at once');
    });
    const client = await RawClient.sending(port, requestText('GET', '/'));
    expect(await client.reply()).toMatchObject({ status: 500, body: 'Error: at once' });
    client.send(requestText('GET', '/good'));
    expect((await client.reply()).body).toBe('good');
    client.destroy();
  });

  it('rejects is answered by onFault', async () => {
    const { port, faults } = await serve(async () => {
      await Promise.resolve();
      throw new TypeError('later');
    });
    expect(await ask(port)).toEqual({ status: 500, body: 'TypeError: later' });
    expect(faults).toHaveLength(1);
    expect(await askGood(port)).toBe('good');
  });

  it('never settles is given up at the deadline, and its late reply is dropped', async () => {
    let answer: (reply: HttpReply) => void = () => {};
    let signal: AbortSignal | undefined;
    const { port, faults } = await serve(
      (request) => {
        signal = request.signal();
        return new Promise((resolve) => {
          answer = resolve;
        });
      },
      { replyDeadlineMs: 50 },
    );
    const client = await RawClient.sending(port, requestText('POST', '/', [], 'x'));
    const reply = await client.reply();
    expect(reply).toMatchObject({ status: 500, body: expect.stringMatching(/^ReplyDeadlineExceeded: .* 50 ms$/) });
    expect(signal?.aborted).toBe(true);
    answer(text('too late'));
    client.send(requestText('GET', '/good'));
    expect((await client.reply()).body).toBe('good');
    expect(client.unread).toBe('');
    expect(faults).toEqual([expect.any(ReplyDeadlineExceeded)]);
    client.destroy();
  });

  it('answers after its process stood still has its reply sent, because only its own time is limited', async () => {
    let nowMs = 0;
    const machine = vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const pending: ((reply: HttpReply) => void)[] = [];
      const { port, requests, faults } = await serve(() => new Promise((resolve) => void pending.push(resolve)));
      const goOn = (ms: number): void => {
        nowMs += ms;
        vi.advanceTimersToNextTimer();
      };
      const client = await RawClient.sending(port, requestText('POST', '/', [], 'x'));
      await vi.waitFor(() => expect(requests).toHaveLength(1));
      goOn(20_000);
      expect(requests[0]?.signal().aborted).toBe(false);
      pending[0]?.(text('what was asked'));
      expect(await client.reply()).toMatchObject({ status: 200, body: 'what was asked' });

      client.send(requestText('POST', '/', [], 'x'));
      await vi.waitFor(() => expect(requests).toHaveLength(2));
      goOn(20_000);
      for (let passedMs = 500; passedMs <= 9750; passedMs += 250) {
        expect(requests[1]?.signal().aborted).toBe(false);
        goOn(250);
      }
      expect((await client.reply()).status).toBe(500);
      expect(faults).toEqual([expect.any(ReplyDeadlineExceeded)]);
      client.destroy();
    } finally {
      vi.useRealTimers();
      machine.mockRestore();
    }
  });

  it('returns nonsense is answered by onFault', async () => {
    const nonsense = [
      undefined,
      {},
      { status: 200, headers: [], body: undefined },
      { status: 0, headers: [], body: '' },
      { status: 101, headers: [], body: '' },
    ];
    for (const reply of nonsense) {
      for (const handle of [() => reply as HttpReply, async () => Promise.resolve(reply as HttpReply)]) {
        const { port, faults } = await serve(handle);
        expect((await ask(port)).status).toBe(500);
        expect(faults).toHaveLength(1);
        expect(await askGood(port)).toBe('good');
      }
    }
  });

  it.each([
    ['a line break in a value', [['X-Echo', 'a\r\nSet-Cookie: evil=1']]],
    ['a lone line feed in a value', [['X-Echo', 'a\nSet-Cookie: evil=1']]],
    ['a lone carriage return in a value', [['X-Echo', 'a\rSet-Cookie: evil=1']]],
    ['a line break in a name', [['X-Echo\r\nSet-Cookie: evil=1\r\nX', 'a']]],
    ['a NUL in a value', [['X-Echo', 'a\0Set-Cookie: evil']]],
    ['a character that becomes a line feed when cut to a byte', [['X-Echo', 'a\u010ASet-Cookie: evil']]],
    ['an empty name', [['', 'Set-Cookie: evil']]],
    ['a length of its own', [['Content-Length', '3']]],
    ['an encoding of its own', [['transfer-encoding', 'chunked']]],
  ] as const)(
    'puts %s into a header is answered by onFault, and nothing of its reply is sent',
    async (_what, headers) => {
      const { port, faults } = await serve(() => ({ status: 200, headers, body: 'body' }));
      const client = await RawClient.sending(port, requestText('GET', '/'));
      const reply = await client.reply();
      expect(reply.status).toBe(500);
      expect(reply.head).not.toMatch(/evil|X-Echo|chunked/i);
      expect(reply.headers['set-cookie']).toBeUndefined();
      expect(faults).toHaveLength(1);
      client.send(requestText('GET', '/good'));
      expect((await client.reply()).body).toBe('good');
      client.destroy();
    },
  );
});

describe('an onFault that', () => {
  it.each([
    [
      'throws',
      () => {
        throw new Error('again');
      },
    ],
    ['makes a reply that cannot be sent', () => ({ status: 500, headers: [['X', '\n']] as const, body: '' })],
  ] as const)('%s leaves the client with a plain 500', async (_what, onFault) => {
    const handlers = [
      () => {
        throw new Error('first');
      },
      () => Promise.reject(new Error('first')),
      () => ({ status: 200, headers: [['X', '\r']] as const, body: '' }),
    ];
    for (const handle of handlers) {
      const { port } = await serve(handle, { onFault });
      const reply = await ask(port);
      expect(reply.status).toBe(500);
      expect(JSON.parse(reply.body)).toMatchObject({ code: 'INTERNAL_ERROR' });
      expect(await askGood(port)).toBe('good');
    }
  });
});

describe('a client that goes away', () => {
  it('while its handler works aborts the signal, and the reply is dropped', async () => {
    let aborted: (reason: unknown) => void = () => {};
    const gone = new Promise((resolve) => {
      aborted = resolve;
    });
    let answer: (reply: HttpReply) => void = () => {};
    const { port, faults, requests } = await serve((request) => {
      request.signal().addEventListener('abort', aborted);
      return new Promise((resolve) => {
        answer = resolve;
      });
    });
    const client = await RawClient.sending(port, requestText('POST', '/', [], 'x'));
    await expect.poll(() => requests.length).toBe(1);
    client.destroy();
    await gone;
    answer(text('nobody reads this'));
    expect(await askGood(port)).toBe('good');
    expect(requests[0]?.signal().aborted).toBe(true);
    expect(faults).toEqual([]);
  });

  it('while its handler works does no harm if the handler fails', async () => {
    let fail: (reason: Error) => void = () => {};
    const { port, requests } = await serve(
      () =>
        new Promise((_resolve, reject) => {
          fail = reject;
        }),
    );
    const client = await RawClient.sending(port, requestText('POST', '/', [], 'x'));
    await expect.poll(() => requests.length).toBe(1);
    client.destroy();
    await expect.poll(() => requests[0]?.signal().aborted).toBe(true);
    fail(new Error('late'));
    expect(await askGood(port)).toBe('good');
  });

  it('in the middle of a large reply does no harm', async () => {
    const { port } = await serve(() => text('x'.repeat(20_000_000)));
    const client = await RawClient.sending(port, requestText('GET', '/'));
    await new Promise((resolve) => client.socket.once('data', resolve));
    client.socket.resetAndDestroy();
    expect(await askGood(port)).toBe('good');
  });

  it('does not abort the signal of a request that was answered', async () => {
    const { port, requests } = await serve(() => text('done'));
    const client = await RawClient.sending(port, requestText('GET', '/'));
    await client.reply();
    client.destroy();
    expect(await askGood(port)).toBe('good');
    expect(requests[0]?.signal().aborted).toBe(false);
  });
});
