import { afterAll, describe, expect, it } from 'vitest';
import { RawClient, requestText } from '../support/raw-http.ts';
import { askGood, closeServers, serve, text } from '../support/transport-server.ts';

afterAll(closeServers);

const hidden = requestText('GET', '/hidden');

/** Sends the bytes and waits for the connection's end. @returns what came back, and which paths were handled */
async function attack(bytes: string): Promise<{ received: string; paths: string[] }> {
  const { port, requests } = await serve(() => text('handled'));
  const client = await RawClient.sending(port, bytes);
  const received = await client.rest();
  expect(await askGood(port)).toBe('good');
  return { received, paths: requests.slice(0, -1).map(({ path }) => path) };
}

describe('a request of ambiguous length', () => {
  const cases: readonly (readonly [string, readonly string[], string])[] = [
    ['two lengths', ['Content-Length: 3', 'Content-Length: 5'], 'abcde'],
    ['the same length twice', ['Content-Length: 3', 'Content-Length: 3'], 'abc'],
    ['two encodings', ['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'], '0\r\n\r\n'],
    ['an encoding around chunked', ['Transfer-Encoding: gzip, chunked'], '0\r\n\r\n'],
    ['an unknown encoding', ['Transfer-Encoding: xchunked'], '0\r\n\r\n'],
    ['an empty length', ['Content-Length:'], ''],
  ];

  it.each(cases)('(%s) gets 400 and the end of the connection, never the handler', async (_what, headers, body) => {
    const { received, paths } = await attack(requestText('POST', '/', headers, body));
    expect(received).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(received).toMatch(/\r\nConnection: close\r\n/);
    expect(received).toMatch(/"code":"INVALID_REQUEST"/);
    expect(paths).toEqual([]);
  });

  it.each(cases)('(%s) hides no second request', async (_what, headers, body) => {
    const { received, paths } = await attack(requestText('POST', '/', headers, `${body}${hidden}`));
    expect(received).not.toMatch(/200 OK/);
    expect(paths).toEqual([]);
  });

  it.each([
    ['a length beside an encoding', ['Content-Length: 3', 'Transfer-Encoding: chunked'], '0\r\n\r\n'],
    ['a length that is no number', ['Content-Length: abc'], ''],
    ['a signed length', ['Content-Length: +3'], 'abc'],
    ['a negative length', ['Content-Length: -3'], 'abc'],
    ['a list of lengths', ['Content-Length: 3, 3'], 'abc'],
    ['a length beyond all numbers', ['Content-Length: 99999999999999999999'], ''],
    ['a hexadecimal length', ['Content-Length: 0x3'], 'abc'],
    ['chunks without a size', ['Transfer-Encoding: chunked'], 'zz\r\nabc\r\n0\r\n\r\n'],
  ])('(%s) ends the connection, at most with 400, and hides no second request', async (_what, headers, body) => {
    const { received, paths } = await attack(requestText('POST', '/', headers, `${body}${hidden}`));
    expect(received).toMatch(/^(HTTP\/1\.1 400 |$)/);
    expect(received).not.toMatch(/200 OK/);
    expect(paths).toEqual([]);
  });

  it('is answered by rejectMalformed if given, or by onFault if that fails', async () => {
    const bytes = requestText('POST', '/x', ['Content-Length: 3', 'Content-Length: 5'], 'abcde');
    const own = await serve(() => text(''), {
      rejectMalformed: ({ path, duplicates }) => ({ status: 400, headers: [], body: `${path} ${duplicates.join()}` }),
    });
    expect((await (await RawClient.sending(own.port, bytes)).reply()).body).toBe('/x content-length');
    const failing = await serve(() => text(''), {
      rejectMalformed: () => {
        throw new Error('no');
      },
    });
    expect(await (await RawClient.sending(failing.port, bytes)).reply()).toMatchObject({
      status: 500,
      body: 'Error: no',
    });
    expect(await askGood(failing.port)).toBe('good');
  });

  it('because of trailers after its chunks hides no request in them', async () => {
    const chunks = '3\r\nabc\r\n0\r\n';
    const together = await attack(requestText('POST', '/', ['Transfer-Encoding: chunked'], `${chunks}${hidden}`));
    expect(together.paths).not.toContain('/hidden');
    const { port, requests } = await serve(() => text('handled'));
    const client = await RawClient.sending(port, requestText('POST', '/', ['Transfer-Encoding: chunked'], chunks));
    client.send('\r\n');
    await client.reply();
    client.send(hidden);
    await client.closed;
    expect(requests.map(({ path }) => path)).not.toContain('/hidden');
    expect(await askGood(port)).toBe('good');
  });
});

describe('requests sent in one go', () => {
  it('are answered in order while the handler answers at once', async () => {
    const { port } = await serve((request) => text(`${request.path} ${request.body.toString()}`));
    const bytes =
      requestText('POST', '/1', [], 'one') + requestText('GET', '/2') + requestText('POST', '/3', [], 'three');
    const client = await RawClient.sending(port, bytes);
    const bodies = [await client.reply(), await client.reply(), await client.reply()].map(({ body }) => body);
    expect(bodies).toEqual(['/1 one', '/2 ', '/3 three']);
    client.destroy();
  });

  it('give another client its turn after sixteen, and end the connection if there are more', async () => {
    const { port, requests } = await serve((request) => text(request.path));
    const [greedy, other] = [await RawClient.connect(port), await RawClient.connect(port)];
    await askGood(port);
    // Both have arrived when the server looks, and it looks at the older connection first.
    greedy.send(requestText('GET', '/greedy').repeat(1300));
    other.send(requestText('GET', '/other'));
    expect((await other.reply()).body).toBe('/other');
    await greedy.closed;
    const paths = requests.map(({ path }) => path).filter((path) => path !== '/good');
    expect(paths.indexOf('/other')).toBeLessThanOrEqual(16);
    expect(paths.length).toBeLessThanOrEqual(17);
    other.destroy();
  });

  it('are all answered if there are sixteen and the client waits for the replies, any number of times', async () => {
    const { port, requests } = await serve((request) => text(request.path));
    const client = await RawClient.connect(port);
    for (let round = 1; round <= 5; round += 1) {
      client.send(requestText('GET', '/').repeat(16));
      for (let replies = 0; replies < 16; replies += 1) expect((await client.reply()).body).toBe('/');
    }
    expect(requests).toHaveLength(80);
    client.destroy();
  });

  it('over many connections are all answered, even from one address', async () => {
    const { port } = await serve((request) => text(request.path));
    const clients = await Promise.all(Array.from({ length: 100 }, () => RawClient.connect(port)));
    for (let round = 0; round < 3; round += 1) {
      for (const client of clients) client.send(requestText('GET', '/'));
      for (const client of clients) expect((await client.reply()).body).toBe('/');
    }
    for (const client of clients) client.destroy();
  });

  it('end the connection if one arrives while a reply is pending', async () => {
    const { port, requests } = await serve(async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return text('late');
    });
    const client = await RawClient.sending(port, requestText('GET', '/1') + requestText('GET', '/2'));
    expect(await client.rest()).toBe('');
    expect(requests.map(({ path }) => path)).toEqual(['/1']);
    expect(requests[0]?.signal().aborted).toBe(true);
    expect(await askGood(port)).toBe('good');
  });
});

describe('bytes that are not a request', () => {
  it.each([
    ['zeros', '\0'.repeat(100)],
    ['a TLS greeting', '\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03'],
    ['another protocol', 'SSH-2.0-OpenSSH_9.2 \r\n\r\n'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['HTTP/1.0', 'GET / HTTP/1.0\r\nHost: a\r\n\r\n'],
    ['no Host', 'GET / HTTP/1.1\r\n\r\n'],
    ['two Hosts', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'],
    ['a proxy request', 'GET http://other/ HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a tunnel request', 'CONNECT other:443 HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a blank before a colon', 'GET / HTTP/1.1\r\nHost: a\r\nX : b\r\n\r\n'],
    ['a folded header', 'GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n\r\n'],
    ['a NUL in a header', 'GET / HTTP/1.1\r\nHost: a\r\nX: \0\r\n\r\n'],
    ['line feeds alone', 'GET / HTTP/1.1\nHost: a\n\n'],
    ['too many headers', `GET / HTTP/1.1\r\nHost: a\r\n${'A: b\r\n'.repeat(120)}\r\n`],
  ])('(%s) end the connection without reaching the handler', async (_what, bytes) => {
    const { received, paths } = await attack(bytes);
    expect(received).toMatch(/^HTTP\/1\.1 (400|431|505) /);
    expect(paths).toEqual([]);
  });

  it('at random do no harm', async () => {
    const { port } = await serve(() => text(''));
    let seed = 1;
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((seed / 2_147_483_648) * below);
    };
    const good = requestText(
      'POST',
      '/path?query',
      ['Origin: http://a', 'Transfer-Encoding: chunked'],
      '3\r\nabc\r\n0\r\n\r\n',
    );
    for (let i = 0; i < 300; i += 1) {
      const bytes = Buffer.from(good, 'latin1');
      for (let n = random(6); n >= 0; n -= 1) bytes[random(bytes.length)] = random(256);
      const client = await RawClient.sending(port, bytes.subarray(0, 1 + random(bytes.length)));
      client.socket.end();
      await client.closed;
    }
    expect(await askGood(port)).toBe('good');
  });
});

describe.concurrent('a client that is too slow', () => {
  it('with its headers is cut off, while others are served', async () => {
    const { port } = await serve(() => text(''));
    const client = await RawClient.sending(port, 'GET / HTTP/1.1\r\nHost: a\r\nX: ');
    const drip = setInterval(() => client.send('a'), 500);
    expect(await askGood(port)).toBe('good');
    await client.closed;
    clearInterval(drip);
    expect(await askGood(port)).toBe('good');
  });

  it('with its body is cut off and never reaches the handler', async () => {
    const { port, requests } = await serve(() => text(''));
    const client = await RawClient.sending(port, requestText('POST', '/slow', ['Content-Length: 1000'], 'a'));
    const drip = setInterval(() => client.send('a'), 500);
    await client.closed;
    clearInterval(drip);
    expect(await askGood(port)).toBe('good');
    expect(requests.map(({ path }) => path)).toEqual(['/good']);
  });
});
