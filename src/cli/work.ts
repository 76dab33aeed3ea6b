import { readConfig } from '../../config/config.ts';
import { runNode } from './run-node.ts';
import { exitCode, type Terminal } from './terminal.ts';

/**
 * `worker`: one of the processes of `serve` with WORKERS. It tells its parent what has started, and drains on SIGTERM and when the
 * parent is gone. What a terminal sends to the whole group is the parent's to act on.
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
    // The parent may have gone while this process was loading: nobody would say so again.
    if (!process.connected) resolve();
  });
  return runNode(readConfig(terminal.env), terminal, stopped, ({ publicUrl, parts, demo }) => {
    // A parent that has ended gets no message: `disconnect` ends this worker.
    process.send?.({ publicUrl, parts, demo }, undefined, undefined, () => undefined);
  });
}
