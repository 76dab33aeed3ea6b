import { randomInt } from 'node:crypto';
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { Identity } from './binaries.ts';

/** How many characters of a server's output are kept for the error message of a failed start. */
const KEPT_OUTPUT = 4_000;

/** Starts a server and resolves when its output (either stream) matches `ready`. */
export async function startServer(
  binary: string,
  args: readonly string[],
  ready: RegExp,
  identity: Identity = {},
): Promise<ChildProcess> {
  const child = spawn(binary, args, { stdio: ['ignore', 'pipe', 'pipe'], ...identity });
  await new Promise<void>((resolve, reject) => {
    let output = '';
    const listen = (text: string): void => {
      output = (output + text).slice(-KEPT_OUTPUT);
      if (ready.test(output)) {
        resolve();
      }
    };
    child.stdout.setEncoding('utf8').on('data', listen);
    child.stderr.setEncoding('utf8').on('data', listen);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`${binary} ended with ${code}: ${output}`)));
  });
  child.unref();
  (child.stdout as Partial<Socket>).unref?.();
  (child.stderr as Partial<Socket>).unref?.();
  return child;
}

/** Sends a signal and waits for the end of the process. */
export async function endServer(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    child.ref();
    const exited = once(child, 'exit');
    signalTree(child, 'SIGCONT');
    child.kill(signal);
    await exited;
  }
}

/** Signals a process and then its children: a server that is stopped first cannot fork more of them in between. */
export function signalTree(child: ChildProcess, signal: NodeJS.Signals): void {
  child.kill(signal);
  for (const pid of childrenOf(child.pid ?? 0)) {
    try {
      process.kill(pid, signal);
    } catch {
      // The child has already ended.
    }
  }
}

function childrenOf(pid: number): readonly number[] {
  try {
    return execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' })
      .trim()
      .split('\n')
      .map(Number);
  } catch {
    return [];
  }
}

/**
 * Below the ports that systems use for outgoing connections, even with the 10,000 that Redis adds for the bus of a cluster; above
 * the last one that browsers refuse (10080: Fetch, section 2.9, "port blocking").
 */
const PORTS = { from: 10_100, perProcess: 1_000 };

let last = randomInt(PORTS.perProcess);

/**
 * A free port that no outgoing connection takes in the meantime, nor a test of another process: those that run at once (1, 2, … and
 * none for the one that starts them) take theirs from parts of their own.
 */
export async function freePort(): Promise<number> {
  const from = PORTS.from + (Number(process.env['VITEST_POOL_ID'] ?? 0) % 10) * PORTS.perProcess;
  for (;;) {
    last = (last + 1) % PORTS.perProcess;
    const port = from + last;
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(port, () => server.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
}
