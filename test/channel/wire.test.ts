import { describe, expect, it } from 'vitest';
import { SOCKET_PATH, SUBPROTOCOL } from '../../src/http/routes/socket.ts';
import { VISITOR_MESSAGES } from '../../src/protocol/error-translations/by-language.ts';
import { CONSOLE, type TestAppOptions } from '../support/app.ts';
import { SECOND } from '../support/clock.ts';
import { RawClient, requestText } from '../support/raw-http.ts';
import { useServed, type Served } from './served.ts';
import { frameBytes, opcode, RawSocket, SocketClient, upgradeHeaders } from '../support/socket-client.ts';

const serve = useServed();

async function start(options: Omit<TestAppOptions, 'database'> = {}): Promise<Served & { readonly url: string }> {
  const served = await serve(options);
  return { ...served, url: `ws://127.0.0.1:${served.port}${SOCKET_PATH}` };
}

/** Asks for an upgrade that is refused. @returns the reply */
async function refused(port: number, headers: readonly string[], method = 'GET') {
  const client = await RawClient.sending(port, requestText(method, SOCKET_PATH, headers));
  const reply = await client.reply({ toHead: method === 'HEAD' });
  client.destroy();
  return { status: reply.status, headers: reply.headers, code: reply.body === '' ? '' : JSON.parse(reply.body).code };
}

const without = (name: string): readonly string[] => upgradeHeaders.filter((line) => !line.startsWith(name));

describe('the upgrade of the heartbeat channel', () => {
  it('is refused with 403 before any 101 if the Origin is unknown', async () => {
    const { port } = await start();
    for (const origin of ['https://evil.example', 'null', `${CONSOLE}.evil.example`, 'http://localhost:3001']) {
      const reply = await refused(port, [...upgradeHeaders, `Origin: ${origin}`]);
      expect(reply).toMatchObject({ status: 403, code: 'ORIGIN_MISMATCH' });
      expect(reply.headers['access-control-allow-origin']).toBeUndefined();
    }
  });

  it('is allowed from the origin of a widget key, from the console, and without an Origin', async () => {
    const { app, port } = await start();
    const { origin } = await app.key();
    for (const headers of [[`Origin: ${origin}`], [`Origin: ${CONSOLE}`], []]) {
      const socket = await RawSocket.open(port, SOCKET_PATH, [...upgradeHeaders, ...headers]);
      socket.client.destroy();
    }
  });

  it('is refused from the origin of a revoked key', async () => {
    const { app, port } = await start();
    const { origin } = await app.key({ revokedAtMs: app.clock.now() });
    expect(await refused(port, [...upgradeHeaders, `Origin: ${origin}`])).toMatchObject({ status: 403 });
  });

  it.each<[string, readonly string[], string?]>([
    ['no upgrade at all', []],
    ['no key', without('Sec-WebSocket-Key')],
    ['a short key', [...without('Sec-WebSocket-Key'), 'Sec-WebSocket-Key: AAAA']],
    ['a key that is no base64', [...without('Sec-WebSocket-Key'), 'Sec-WebSocket-Key: !!!!!!!!!!!!!!!!!!!!!!==']],
    ['no version', without('Sec-WebSocket-Version')],
    ['another version', [...without('Sec-WebSocket-Version'), 'Sec-WebSocket-Version: 8']],
    ['another protocol to upgrade to', [...without('Upgrade'), 'Upgrade: h2c']],
    ['a connection that is kept', [...without('Connection'), 'Connection: keep-alive']],
    ['a connection that closes', [...without('Connection'), 'Connection: close']],
    ['another subprotocol', [...without('Sec-WebSocket-Protocol'), 'Sec-WebSocket-Protocol: chat']],
    ['HEAD', upgradeHeaders, 'HEAD'],
  ])('is refused with 400 when there is %s', async (_what, headers, method) => {
    const { port, faults } = await start();
    expect(await refused(port, headers, method)).toMatchObject({
      status: 400,
      code: method === 'HEAD' ? '' : 'INVALID_REQUEST',
    });
    expect(faults).toEqual([]);
  });

  it('counts in the window of its address, and its 101 says what is left', async () => {
    const { port } = await start({ env: { RATE_IP_PER_MIN: '2' } });
    const socket = await RawSocket.open(port, SOCKET_PATH);
    expect(socket.head).toMatch(/\r\nX-RateLimit-Remaining: 1\r\n/i);
    (await RawSocket.open(port, SOCKET_PATH)).client.destroy();
    expect(await refused(port, upgradeHeaders)).toMatchObject({ status: 429, code: 'RATE_LIMIT_EXCEEDED' });
    socket.client.destroy();
  });

  it('works even if a login cannot be checked', async () => {
    const { port } = await start();
    const socket = await RawSocket.open(port, SOCKET_PATH, [...upgradeHeaders, 'Cookie: tenant_session=nonsense']);
    socket.client.destroy();
  });
});

describe('the heartbeat channel on the wire', () => {
  it('attaches, sends heartbeats, reports usage and ends', async () => {
    const { app, url } = await start();
    const client = await SocketClient.open(url);
    client.say({ type: 'attach', sm_session_id: await app.open(await app.key()) });
    client.say({ type: 'heartbeat', id: 1 });
    client.say({ type: 'usage', tokens: 1, dollars: 0, id: 'u' });
    client.say({ type: 'heartbeat', id: 2 });
    client.say({ type: 'end' });
    await client.closed;
    const frames = client.messages.map((message) => JSON.parse(message));
    expect(frames).toMatchObject([
      { type: 'attached' },
      { type: 'heartbeat', id: 1 },
      { type: 'usage', id: 'u' },
      { type: 'heartbeat', id: 2 },
      { type: 'ended', reason: 'closed_by_client' },
    ]);
    expect(await client.closed).toEqual({ code: 4403, reason: 'closed_by_client' });
  });

  it("tells each socket of an end in its own language: its client's, otherwise its upgrade's, otherwise English", async () => {
    const { app, url } = await start();
    const sm_session_id = await app.open(await app.key());
    const asked = [
      [{ 'Accept-Language': 'fr-CH, en;q=0.5' }, undefined, 'fr'],
      [{ 'Accept-Language': 'fr' }, 'ja-JP', 'ja'],
      [{ 'Accept-Language': 'fr' }, 'sv', 'fr'],
      [{}, undefined, 'en'],
    ] as const;
    const clients = await Promise.all(
      asked.map(async ([headers, language]) => {
        const client = await SocketClient.open(url, SUBPROTOCOL, headers);
        client.say({ type: 'attach', sm_session_id, language });
        await client.hear();
        return client;
      }),
    );
    await app.post('/api/realtime/end', { sm_session_id });
    const told = await Promise.all(clients.map(async (client) => JSON.parse(await client.hear()).userMessage));
    expect(told).toEqual(asked.map(([, , language]) => VISITOR_MESSAGES[language].ends.closed_by_client));
  });

  it('says what is wrong with a frame in the language of the upgrade', async () => {
    const { url } = await start();
    const client = await SocketClient.open(url, SUBPROTOCOL, { 'Accept-Language': 'de' });
    client.say('nonsense');
    expect(JSON.parse(await client.hear()).userMessage).toBe(VISITOR_MESSAGES.de.errors.INVALID_REQUEST);
    client.socket.close();
  });

  it('accepts 4 KiB in one frame, and a frame in fragments', async () => {
    const { app, port } = await start();
    const socket = await RawSocket.open(port, SOCKET_PATH);
    const attach = JSON.stringify({ type: 'attach', sm_session_id: await app.open(await app.key()) });
    socket.send(frameBytes(opcode.text, attach.slice(0, 20), { isLast: false }));
    socket.send(frameBytes(opcode.continuation, attach.slice(20)));
    socket.send(frameBytes(opcode.text, JSON.stringify({ type: 'heartbeat', id: 1 }).padEnd(4096)));
    await expect.poll(() => socket.texts.map((text) => JSON.parse(text).type)).toEqual(['attached', 'heartbeat']);
    socket.client.destroy();
  });

  it('accepts 20 KiB in one frame only from a socket that wants its call', async () => {
    const { app, port } = await start();
    const sm_session_id = await app.open(await app.key());
    const open = async (wants: readonly string[]): Promise<RawSocket> => {
      const socket = await RawSocket.open(port, SOCKET_PATH);
      socket.send(frameBytes(opcode.text, JSON.stringify({ type: 'attach', sm_session_id, wants })));
      await expect.poll(() => socket.texts.length).toBe(1);
      return socket;
    };
    const [wanting, other] = [await open(['call']), await open(['something_new'])];
    const beat = JSON.stringify({ type: 'heartbeat', id: 1 });
    wanting.send(frameBytes(opcode.text, beat.padEnd(20 * 1024)));
    await expect.poll(() => wanting.texts.map((text) => JSON.parse(text).type)).toContain('heartbeat');
    for (const [socket, bytes] of [
      [wanting, 20 * 1024 + 1],
      [other, 4097],
    ] as const) {
      socket.send(frameBytes(opcode.text, beat.padEnd(bytes)));
      await socket.client.closed;
      expect(socket.closeCode).toBeUndefined();
    }
  });

  it('closes with 4400 on the third binary frame, with 4429 on a flood of pings, with 4401 on silence', async () => {
    const { app, port, url } = await start({ env: { RATE_BURST: '10' } });
    const binary = await SocketClient.open(url);
    for (const _ of [1, 2, 3]) binary.socket.send(new Uint8Array(3));
    expect(await binary.closed).toMatchObject({ code: 4400 });

    const flood = await RawSocket.open(port, SOCKET_PATH);
    flood.send(Buffer.concat(Array.from({ length: 1000 }, () => frameBytes(opcode.ping, ''))));
    await expect.poll(() => flood.closeCode).toBe(4429);

    const silent = await SocketClient.open(url);
    app.clock.advance(5 * SECOND);
    app.service.hub.tick();
    expect(await silent.closed).toMatchObject({ code: 4401 });
  });

  it('counts sockets by the address that a trusted proxy reports, an IPv6 address by its /64', async () => {
    const { url } = await start({ env: { MAX_SOCKETS_PER_IP: '1', TRUST_PROXY: '127.0.0.1' } });
    const from = (address: string): Promise<SocketClient> =>
      SocketClient.open(url, SUBPROTOCOL, { 'x-forwarded-for': `192.0.2.99, ${address}` });
    const first = await from('2001:db8::1');
    expect(await (await from('2001:db8:0:0:ffff::2')).closed).toMatchObject({ code: 4429 });
    const others = [await from('2001:db8:0:1::1'), await from('192.0.2.1')];
    first.say({ type: 'nonsense' });
    await first.hear();
    for (const other of others) expect(other.messages).toEqual([]);
    first.socket.close();
    await first.closed;
    for (const other of others) {
      other.say({ type: 'nonsense' });
      await other.hear();
    }
    const next = await from('2001:db8::3');
    next.say({ type: 'nonsense' });
    await next.hear();
  });

  it('forgets a socket that breaks off or leaves and notes its close code, and the session goes on', async () => {
    const { app, port, url } = await start();
    const id = await app.open(await app.key());
    const socket = await RawSocket.open(port, SOCKET_PATH);
    socket.send(frameBytes(opcode.text, JSON.stringify({ type: 'attach', sm_session_id: id })));
    await expect.poll(() => app.service.hub.attached).toBe(1);
    socket.client.socket.resetAndDestroy();
    await expect.poll(() => app.service.hub.attached).toBe(0);
    const leaving = await SocketClient.open(url);
    leaving.say({ type: 'attach', sm_session_id: id });
    await leaving.hear();
    leaving.socket.close(1000);
    await expect.poll(() => app.service.hub.attached).toBe(0);
    await app.service.journalWriter.flush();
    const { entries } = await app.service.stores.journal.list(
      { kinds: ['note'], tenants: '*', target: id.slice(0, 42) },
      undefined,
      9,
    );
    const codes = entries.filter(({ code }) => code === 'detached').map(({ detail }) => detail['code']);
    expect(codes).toEqual([1000, 1006]);
    expect((await app.post('/api/realtime/heartbeat', { sm_session_id: id })).status).toBe(200);
  });

  it('tells every socket to connect elsewhere when the service shuts down', async () => {
    const { app, url, transport } = await start();
    const [attached, fresh] = [await SocketClient.open(url), await SocketClient.open(url)];
    attached.say({ type: 'attach', sm_session_id: await app.open(await app.key()) });
    await attached.hear();
    app.service.hub.close();
    await transport.close(5000);
    expect(await attached.closed).toMatchObject({ code: 1012 });
    expect(await fresh.closed).toMatchObject({ code: 1012 });
  });
});
