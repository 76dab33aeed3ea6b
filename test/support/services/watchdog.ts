import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';

/**
 * Reads lists of pids until the pipe closes, which happens however the test run ends; then ends the processes of the last
 * list, wakes frozen ones, and removes the directory.
 */
const script = `
pids=""
while read -r line; do pids="$line"; done
all="$pids"
for pid in $pids; do all="$all $(pgrep -P "$pid" | tr '\\n' ' ')"; done
for pid in $pids; do kill -"$1" "$pid" 2>/dev/null; done
for pid in $all; do kill -CONT "$pid" 2>/dev/null; done
for try in 1 2 3 4 5 6 7 8 9 10; do
  alive=""
  for pid in $all; do kill -0 "$pid" 2>/dev/null && alive="$alive $pid"; done
  [ -z "$alive" ] && break
  sleep 0.1
done
for pid in $alive; do kill -9 "$pid" 2>/dev/null; done
rm -rf "$2"
`;

export interface Watchdog {
  /** Replaces the list of processes that are ended when the test run ends. */
  watch(servers: readonly ChildProcess[]): void;
  /** Ends all watched processes and removes the directory now. */
  bite(): Promise<void>;
}

/** A tiny shell that outlives the test run by a moment and cleans up, so that no server and no file is left behind. */
export function startWatchdog(directory: string, signal: 'QUIT' | 'TERM'): Watchdog {
  const shell = spawn('/bin/sh', ['-c', script, 'watchdog', signal, directory], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  shell.unref();
  (shell.stdin as Partial<Socket>).unref?.();
  return {
    watch: (servers) => void shell.stdin.write(`${servers.map(({ pid }) => pid).join(' ')}\n`),
    async bite() {
      shell.ref();
      const exited = once(shell, 'exit');
      shell.stdin.end();
      await exited;
    },
  };
}
