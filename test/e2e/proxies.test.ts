import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { INSPECT_PATH } from '../../src/operators/machines/inspector.ts';
import { SOCKET_PATH } from '../../src/http/routes/socket.ts';
import { FEED_PATH } from '../../src/protocol/operator/feed.ts';
import { findBinary, reasonToSkip } from '../support/services/binaries.ts';
import { endServer, freePort, startServer } from '../support/services/server-process.ts';
import { RawClient } from '../support/raw-http.ts';
import { SocketClient } from '../support/socket-client.ts';
import { site, siteKey, World } from '../support/world.ts';
import { soon } from '../support/soon.ts';

const debianFolders = ['/usr/sbin'];

interface Proxy {
  readonly name: string;
  readonly sample: string;
  /** Arguments that run it in the foreground; `ready` matches what it then prints. */
  readonly args: (file: string) => readonly string[];
  readonly ready: RegExp;
  /** Adapts the sample to this machine: another port, a single node, and directories that a test may write to. */
  readonly adapt: (sample: string, port: number, node: number, directory: string) => string;
}

const proxies: readonly Proxy[] = [
  {
    name: 'nginx',
    sample: 'nginx.conf',
    args: (file) => ['-c', file, '-e', 'stderr', '-g', 'daemon off;'],
    ready: /start worker process/,
    adapt: (sample, port, node, directory) =>
      sample
        .replace(/(?: *server 172\.30\.57\.\d+:3000 max_fails=0;\n)+/, `server 127.0.0.1:${node} max_fails=0;\n`)
        .replace('listen 8080;', `listen 127.0.0.1:${port};`)
        .replace('error_log stderr warn;', 'error_log stderr notice;')
        .replaceAll(' /tmp/', ` ${directory}/`),
  },
  {
    name: 'haproxy',
    sample: 'haproxy.cfg',
    args: (file) => ['-V', '-db', '-f', file],
    ready: /polling mechanism/,
    adapt: (sample, port, node) =>
      sample
        .replace(/(?: *server node\d 172\.30\.57\.\d+:3000\n)+/, `  server node 127.0.0.1:${node}\n`)
        .replace('bind :8080', `bind 127.0.0.1:${port}`),
  },
];

/** Starts the proxy in front of a node, with its sample configuration. */
async function start({ name, sample, args, ready, adapt }: Proxy, port: number, world: World): Promise<ChildProcess> {
  const text = readFileSync(fileURLToPath(new URL(`../../config/${sample}`, import.meta.url)), 'utf8');
  const file = join(world.directory, sample);
  await writeFile(file, adapt(text, port, world.server.port, world.directory));
  return startServer(findBinary(name, name, debianFolders), args(file), ready);
}

test.each([SOCKET_PATH, FEED_PATH, INSPECT_PATH])('The nginx sample keeps a quiet socket at %s open', (path) => {
  const sample = readFileSync(fileURLToPath(new URL('../../config/nginx.conf', import.meta.url)), 'utf8');
  const locations = [...sample.matchAll(/location (=|~) (\S+) \{([^}]*)\}/g)];
  const found = locations.find(([, how, where = '']) => (how === '=' ? where === path : new RegExp(where).test(path)));
  // Nodes ping at least once in 64 seconds.
  expect(Number(/proxy_read_timeout (\d+)s/.exec(found?.[3] ?? '')?.[1])).toBeGreaterThan(64);
});

describe.each(proxies.map((proxy) => [proxy.sample, proxy] as const))('config/%s', (_sample, proxy) => {
  const why = reasonToSkip(() => findBinary(proxy.name, proxy.name, debianFolders));
  let world: World;
  let child: ChildProcess;
  let port: number;

  beforeAll(async () => {
    if (why !== undefined) return;
    world = await World.start({ TRUST_PROXY: '127.0.0.1' });
    port = await freePort();
    child = await start(proxy, port, world);
  });

  afterAll(async () => {
    if (why !== undefined) return;
    await endServer(child, 'SIGTERM');
    await world.close();
  });

  test.skipIf(why !== undefined)('lets requests and sockets through', async () => {
    const origin = `http://127.0.0.1:${port}`;
    await vi.waitFor(async () => expect((await fetch(`${origin}/readyz`)).status).toBe(200), soon);

    const created = await fetch(`${origin}/api/session`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: site },
      body: JSON.stringify({ widgetKey: siteKey, agentId: 'support' }),
    });
    expect(created.status, await created.clone().text()).toBe(200);
    const { sm_session_id } = (await created.json()) as { sm_session_id: string };
    world.confidential.add(sm_session_id);

    const socket = await SocketClient.open(`ws://127.0.0.1:${port}/api/realtime/socket`, 'switchboard.v1', {
      Origin: site,
    });
    socket.say({ type: 'heartbeat', sm_session_id });
    expect(await socket.hear()).toContain('"type"');
    socket.socket.close();
    await socket.closed;
  });

  test.skipIf(why !== undefined)('answers HTTP/1.0 clients without sending HTTP/1.0 to a node', async () => {
    await vi.waitFor(async () => expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200), soon);
    const client = await RawClient.sending(port, 'GET /healthz HTTP/1.0\r\nHost: a\r\n\r\n');
    expect(await client.rest()).toMatch(proxy.name === 'nginx' ? /^HTTP\/1\.1 200 / : /^HTTP\/1\.[01] 505 /);
  });
});
