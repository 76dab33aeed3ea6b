// A Redis of its own for one run, and what it did: calls and CPU.
import { readFileSync } from 'node:fs';
import net from 'node:net';
import { firstMatch, canPin, stopChild } from './measure.mjs';
import { spawn } from 'node:child_process';

const ticksPerSecond = 100; // USER_HZ, which Linux fixes at 100 for /proc

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

function cpuSeconds(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
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
