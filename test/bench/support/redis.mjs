// A Redis for one run, and what it did: calls and CPU.
import net from 'node:net';
import path from 'node:path';
import { runnerImport } from 'vite';
import { cpuSeconds } from './cpu.mjs';
import { firstMatch, spawnPinned, stopChild } from './measure.mjs';

const services = path.resolve(import.meta.dirname, '../../support/services');

/**
 * Starts redis-server on a free port, without persistence, on the core without a server under test.
 * @throws ServiceMissing when it is not installed
 */
export async function startRedis() {
  const { module } = await runnerImport(`${services}/binaries.ts`, { configFile: false, logLevel: 'warn' });
  const program = module.findBinary('redis-server', 'redis-server');
  const port = await freePort();
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const child = spawnPinned(1, [program, ...args]);
  await firstMatch(child, /Ready to accept connections/);
  return {
    url: `redis://127.0.0.1:${port}`,
    /** Script calls so far, and CPU seconds used. */
    cost: async () => ({ calls: await scriptCalls(port), cpuSeconds: cpuSeconds(child.pid) }),
    /** Bytes of memory in use. */
    memory: async () => Number(/used_memory:(\d+)/.exec(await info(port, 'memory'))[1]),
    stop: () => stopChild(child),
  };
}

function freePort() {
  return new Promise((resolve) => {
    const server = net.createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

async function scriptCalls(port) {
  const calls = [...(await info(port, 'commandstats')).matchAll(/cmdstat_evalsha?:calls=(\d+)/g)];
  return calls.reduce((sum, [, count]) => sum + Number(count), 0);
}

function info(port, section) {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = net.connect(port, '127.0.0.1', () => socket.write(`INFO ${section}\r\nQUIT\r\n`));
    socket.setEncoding('latin1').on('data', (chunk) => {
      text += chunk;
    });
    socket.on('error', reject).on('close', () => resolve(text));
  });
}
