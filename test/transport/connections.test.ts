import { afterEach, describe, expect, it } from 'vitest';
import { connectionsWithin, openFilesLimit } from '../../src/transport/server.ts';
import { RawClient, requestText } from '../support/raw-http.ts';
import { SocketClient } from '../support/socket-client.ts';
import { askGood, closeServers, serve, text } from '../support/transport-server.ts';

afterEach(closeServers);

describe('connections', () => {
  it('beyond the limit are closed at once and reported, and open ones are still served', async () => {
    const refusedAt: number[] = [];
    const onConnectionRefused = (open: number): void => void refusedAt.push(open);
    const { port, transport } = await serve(() => text('served'), { maxConnections: 2, onConnectionRefused });
    const first = await RawClient.sending(port, requestText('GET', '/'));
    const second = await RawClient.sending(port, requestText('GET', '/'));
    expect((await first.reply()).body).toBe('served');
    expect((await second.reply()).body).toBe('served');

    const third = await RawClient.sending(port, requestText('GET', '/'));
    expect(await third.rest()).toBe('');
    expect(refusedAt).toEqual([2]);
    expect(transport.connections).toBe(2);
    first.send(requestText('GET', '/'));
    expect((await first.reply()).body).toBe('served');

    second.destroy();
    await expect.poll(() => transport.connections).toBe(1);
    expect(await askGood(port)).toBe('good');
    first.destroy();
  });

  it('that became sockets count as well, until they close', async () => {
    const { port, transport } = await serve(() => ({ status: 101, headers: [], body: '' }), {
      maxConnections: 1,
      sockets: [
        {
          path: '/socket',
          subprotocol: 'echo',
          accept: () => ({ message() {}, binary() {}, ping() {}, closed() {} }),
        },
      ],
    });
    const socket = await SocketClient.open(`ws://127.0.0.1:${port}/socket`, 'echo');
    const refused = await RawClient.sending(port, requestText('GET', '/good'));
    expect(await refused.rest()).toBe('');
    expect(transport.connections).toBe(1);
    socket.socket.close();
    await expect.poll(() => transport.connections).toBe(0);
    expect(await askGood(port)).toBe('good');
  });

  it('leave descriptors for everything else', () => {
    expect(connectionsWithin(1024, 0)).toBe(721);
    expect(connectionsWithin(65_536, 0)).toBe(58_782);
    expect(connectionsWithin(65_536, 1000)).toBe(1000);
    expect(connectionsWithin(1024, 1000)).toBe(721);
    expect(connectionsWithin(64, 0)).toBe(16);
    expect(connectionsWithin(Infinity, 0)).toBe(Infinity);
  });

  it('are limited by the system’s own limit', () => {
    expect(openFilesLimit()).toBeGreaterThan(16);
  });
});
