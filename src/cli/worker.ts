import { fork, type ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import type { StartedNode } from './run-node.ts';

/** Longer than a worker takes for its own shutdown, shorter than the contract's ten seconds. */
const STOP_MS = 9500;

/** The worker ended before it was ready, and has printed why. */
export class WorkerEnded extends Error {
  override readonly name = 'WorkerEnded';
  /** Null when a signal ended it. */
  readonly exitCode: number | null;

  constructor(exitCode: number | null) {
    super(`A worker ended with ${exitCode ?? 'a signal'} before it was ready.`);
    this.exitCode = exitCode;
  }
}

export class Worker {
  readonly startedAt = performance.now();
  /** Rejects with WorkerEnded. */
  readonly ready: Promise<StartedNode>;
  /** Resolves with the exit code, or null when a signal ended it. */
  readonly ended: Promise<number | null>;
  readonly #child: ChildProcess;

  /** @param entry the script that this process runs */
  constructor(entry: string, env: NodeJS.ProcessEnv) {
    const child = fork(entry, ['worker'], { env });
    this.#child = child;
    this.ended = new Promise((resolve) => {
      child.once('exit', (code) => resolve(code));
      // The process could not be started.
      child.once('error', () => resolve(child.exitCode));
    });
    this.ready = new Promise((resolve, reject) => {
      child.once('message', (message) => resolve(message as StartedNode));
      void this.ended.then((code) => reject(new WorkerEnded(code)));
    });
    // A rejection that nobody awaits must not end this process.
    this.ready.catch(() => undefined);
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Lets the worker drain, and kills it if it does not end. @returns whether it drained */
  async stop(): Promise<boolean> {
    this.#child.kill('SIGTERM');
    const patience = new AbortController();
    const isEnded = await Promise.race([
      this.ended.then(() => true),
      delay(STOP_MS, false, { signal: patience.signal }),
    ]);
    patience.abort();
    if (!isEnded) this.#child.kill('SIGKILL');
    const code = await this.ended;
    // SIGTERM killed it before it handled signals, so it served nobody.
    return code === 0 || this.#child.signalCode === 'SIGTERM';
  }
}
