// A Redis of its own for one run, and what it did: calls and CPU.
import { spawn } from 'node:child_process';
import net from 'node:net';
import { cpuSeconds } from './cpu.mjs';
import { firstMatch, canPin, stopChild } from './measure.mjs';

/** Starts redis-server on a free port, without persistence, on the core that no server under test has. */
export async function startRedis() {
  const port = await freePort();
  const args = ['redis-server', '--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const [command, ...rest] = canPin ? ['taskset', '-c', '1', ...args] : args;
  const child = spawn(command, rest, { stdio: ['ignore', 'pipe', 'inherit'] });
  await firstMatch(child, /Ready to accept connections/);
  return {
    url: `redis://127.0.0.1:${port}`,
    /** Script calls so far, and CPU seconds used. */
    cost: async () => ({ calls: await scriptCalls(port), cpuSeconds: cpuSeconds(child.pid) }),
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

function scriptCalls(port) {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = net.connect(port, '127.0.0.1', () => socket.write('INFO commandstats\r\nQUIT\r\n'));
    socket.setEncoding('latin1').on('data', (chunk) => {
      text += chunk;
    });
    socket.on('error', reject).on('close', () => {
      const calls = [...text.matchAll(/cmdstat_evalsha?:calls=(\d+)/g)].map(([, count]) => Number(count));
      resolve(calls.reduce((sum, count) => sum + count, 0));
    });
  });
}
