import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { RawClient, requestText } from '../support/raw-http.ts';
import { Switchboard } from '../support/switchboard.ts';
import { soon } from '../support/soon.ts';

let directory: string;
let server: Switchboard;

async function start(environment: Record<string, string> = {}, openFiles?: number): Promise<void> {
  directory = await mkdtemp(join(tmpdir(), 'switchboard-e2e-'));
  server = await Switchboard.start({ DATA_DIR: directory, DEBUG_METRICS: 'true', ...environment }, { openFiles });
}

afterEach(async () => {
  await server.end('SIGKILL');
  await rm(directory, { recursive: true, force: true });
});

describe('A process that may open 300 files', () => {
  test('closes connections beyond its limit, and serves pages to those that it keeps', async () => {
    await start({}, 300);
    const clients = await Promise.all(Array.from({ length: 300 }, () => RawClient.connect(server.port)));
    let closed = 0;
    for (const client of clients) void client.closed.then(() => (closed += 1));
    // 200 files and a tenth of the 300 are kept back, so 70 connections stay open.
    await vi.waitFor(() => expect(closed).toBe(230), soon);

    const served = clients.find((client) => !client.socket.closed);
    served?.send(requestText('GET', '/demo'));
    expect((await served?.reply())?.status).toBe(200);
    served?.send(requestText('GET', '/metrics'));
    const metrics = (await served?.reply())?.body;
    expect(metrics).toMatch(/^switchboard_connections_open 70$/m);
    expect(metrics).toMatch(/^switchboard_connections_refused_total 230$/m);
    expect(server.output.stdout).toContain('"event":"connection.refused","open":70');

    for (const client of clients) client.destroy();
    await vi.waitFor(async () => expect((await fetch(`${server.origin}/healthz`)).status).toBe(200), soon);
  });
});

describe('SIGTERM', () => {
  test('lets connections be served that the kernel has accepted and the process has not seen yet', async () => {
    await start();
    process.kill(server.pid, 'SIGSTOP');
    const clients = await Promise.all(Array.from({ length: 50 }, () => RawClient.connect(server.port)));
    for (const client of clients) client.send(requestText('GET', '/healthz'));
    const ending = server.end('SIGTERM');
    process.kill(server.pid, 'SIGCONT');
    for (const client of clients) expect((await client.reply()).status).toBe(200);
    expect(await ending).toMatchObject({ code: 0 });
  });
});
