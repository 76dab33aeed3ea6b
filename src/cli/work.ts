import { readConfig } from '../../config/config.ts';
import { runNode } from './run-node.ts';
import { exitCode, type Terminal } from './terminal.ts';

/**
 * `worker`: one of the processes of `serve` with WORKERS. It tells its parent when it is ready, and drains on SIGTERM or when the parent
 * ends. Signals that a terminal sends to the whole process group are handled by the parent.
 */
export function work(terminal: Terminal): Promise<number> {
  if (process.send === undefined) {
    terminal.err.write('A worker is started by serve; set WORKERS.\n');
    return Promise.resolve(exitCode.usage);
  }
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
  const stopped = new Promise<void>((resolve) => {
    process.once('SIGTERM', resolve);
    process.once('disconnect', resolve);
    // If the parent ended while this process was loading, no further event will come.
    if (!process.connected) resolve();
  });
  return runNode(readConfig(terminal.env), terminal, stopped, ({ publicUrl, parts, demo }) => {
    // Sending fails if the parent has ended; `disconnect` then ends this worker.
    process.send?.({ publicUrl, parts, demo }, undefined, undefined, () => undefined);
  });
}
