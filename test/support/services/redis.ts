import { execFile, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { findBinary, reasonToSkip } from './binaries.ts';
import { endServer, freePort, startServer } from './server-process.ts';
import { startWatchdog, type Watchdog } from './watchdog.ts';

const run = promisify(execFile);

const CLUSTER_NODES = 3;

/** A real Redis for one test file: empty, in memory only, gone after the test run. */
export interface RedisService {
  /** The value for REDIS_URL: one URL, or a comma-separated list for a cluster. */
  readonly url: string;
  /** One URL per node. */
  readonly urls: readonly string[];
  /** Stops nodes (all by default), so that they look like hung machines: connections stay open and are silent. */
  freeze(count?: number): void;
  thaw(): void;
  /** Deletes every key on every node. */
  flush(): Promise<void>;
  /** Starts all nodes again on the same ports, empty; a cluster keeps its shape. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

interface Node {
  readonly port: number;
  readonly args: readonly string[];
  server: ChildProcess;
}

/** See `reasonToSkip`. */
export function reasonToSkipRedis(): string | undefined {
  return reasonToSkip(findRedis);
}

function findRedis(): string {
  return findBinary('redis-server', 'redis-server');
}

/**
 * Starts one Redis (some 20 ms).
 *
 * @throws ServiceMissing when Redis is not installed.
 */
export async function startRedis(): Promise<RedisService> {
  const directory = mkdtempSync(join(tmpdir(), 'switchboard-redis-'));
  const watchdog = startWatchdog(directory, 'TERM');
  const node = await startNode(directory);
  watchdog.watch([node.server]);
  return serviceOf([node], watchdog, async () => {});
}

/**
 * Starts three Redis nodes as one cluster without replicas (some 2 s).
 *
 * @throws ServiceMissing when Redis is not installed.
 */
export async function startRedisCluster(): Promise<RedisService> {
  const directory = mkdtempSync(join(tmpdir(), 'switchboard-redis-cluster-'));
  const watchdog = startWatchdog(directory, 'TERM');
  const nodes: Node[] = [];
  while (nodes.length < CLUSTER_NODES) {
    const bus = [
      '--cluster-enabled',
      'yes',
      '--cluster-node-timeout',
      // A node that a busy machine keeps waiting must not count as dead.
      '20000',
      '--cluster-port',
      String(await freePort()),
    ];
    nodes.push(await startNode(join(directory, String(nodes.length)), bus));
    watchdog.watch(nodes.map(({ server }) => server));
  }
  const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`);
  await run(cli(), ['--cluster', 'create', ...addresses, '--cluster-replicas', '0', '--cluster-yes']);
  await Promise.all(nodes.map(clusterIsWhole));
  return serviceOf(nodes, watchdog, async () => {
    await Promise.all(nodes.map(clusterIsWhole));
  });
}

async function startNode(directory: string, more: readonly string[] = []): Promise<Node> {
  mkdirSync(directory, { recursive: true });
  const port = await freePort();
  const memoryOnly = ['--save', '', '--appendonly', 'no'];
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', directory, ...memoryOnly, ...more];
  return { port, args, server: await launch(args) };
}

function launch(args: readonly string[]): Promise<ChildProcess> {
  return startServer(findRedis(), args, /Ready to accept connections/);
}

function cli(): string {
  return join(dirname(findRedis()), 'redis-cli');
}

/** Asks Redis over a socket: a test's process is large, so starting a program from it costs far more. */
function ask({ port }: Node, command: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.end(`${command}\r\nQUIT\r\n`);
  return readAll(socket);
}

async function flushAll(node: Node): Promise<void> {
  const reply = await ask(node, 'FLUSHALL SYNC');
  if (!reply.startsWith('+OK')) throw new Error(`Redis on port ${node.port} was not emptied: ${reply}`);
}

async function clusterIsWhole(node: Node): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    const info = await ask(node, 'CLUSTER INFO');
    if (info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${CLUSTER_NODES}`)) {
      return;
    }
    await pause(50);
  }
  throw new Error(`the Redis cluster did not form (port ${node.port})`);
}

function serviceOf(nodes: readonly Node[], watchdog: Watchdog, settle: () => Promise<void>): RedisService {
  const urls = nodes.map(({ port }) => `redis://127.0.0.1:${port}`);
  const signal = (name: NodeJS.Signals, count = nodes.length): void =>
    nodes.slice(0, count).forEach(({ server }) => void server.kill(name));
  return {
    url: urls.join(','),
    urls,
    freeze: (count) => signal('SIGSTOP', count),
    thaw: () => signal('SIGCONT'),
    async flush() {
      await Promise.all(nodes.map(flushAll));
    },
    async restart() {
      for (const node of nodes) {
        await endServer(node.server, 'SIGKILL');
        node.server = await launch(node.args);
        watchdog.watch(nodes.map(({ server }) => server));
      }
      await settle();
    },
    stop: () => watchdog.bite(),
  };
}
