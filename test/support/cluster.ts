import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from './services/server-process.ts';
import type { Environment } from './switchboard.ts';

/** How long a start may take, as with an orchestrator that gives up on a node. */
const START_MS = 20_000;
const RETRY_MS = 250;
const KEPT_LINES = 400;

/** A line of a node's log. */
export interface LogLine {
  readonly time?: string;
  readonly event?: string;
  readonly session?: string;
  readonly reason?: string;
  readonly where?: string;
  readonly dependency?: string;
  readonly err?: {
    readonly message?: string;
    readonly stack?: string;
    readonly cause?: { readonly message?: string; readonly code?: string };
  };
}

export interface ClusterEvents {
  /** A node ended although it was not told to. */
  onExit(node: number, how: string, lastLines: readonly string[]): void;
  /** A node ended before it was ready. */
  onFailedStart(node: number, lastLines: readonly string[]): void;
  onLine(node: number, line: LogLine): void;
}

/** One node: a process of the built server on a port of its own, started anew as often as needed. */
export class ClusterNode {
  readonly index: number;
  readonly port: number;
  readonly #bundle: string;
  readonly #environment: Environment;
  readonly #events: ClusterEvents;
  #child: ChildProcess | undefined;
  #isTold = false;
  #lines: string[] = [];

  private constructor(index: number, port: number, bundle: string, environment: Environment, events: ClusterEvents) {
    this.index = index;
    this.port = port;
    this.#bundle = bundle;
    this.#environment = environment;
    this.#events = events;
  }

  static async create(
    index: number,
    bundle: string,
    environment: Environment,
    events: ClusterEvents,
  ): Promise<ClusterNode> {
    return new ClusterNode(index, await freePort(), bundle, environment, events);
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Starts the node, retrying as an orchestrator would, until it is ready. @throws when it is not ready within twenty seconds */
  async start(): Promise<void> {
    const startedAt = performance.now();
    while (!(await this.#startOnce())) {
      this.#events.onFailedStart(this.index, this.#lines);
      if (performance.now() - startedAt > START_MS)
        throw new Error(`node ${this.index} does not start:\n${this.#lines.join('\n')}`);
      await delay(RETRY_MS);
    }
  }

  /** @returns the exit code, null when a signal ended the process, and how long that took */
  async stop(signal: 'SIGKILL' | 'SIGTERM'): Promise<{ code: number | null; ms: number }> {
    const startedAt = performance.now();
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return { code: null, ms: 0 };
    this.#isTold = true;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
    return { code: child.exitCode, ms: performance.now() - startedAt };
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child?.kill(signal);
  }

  async #startOnce(): Promise<boolean> {
    this.#isTold = false;
    this.#lines = [];
    const child = spawn(process.execPath, [this.#bundle], {
      env: { PATH: process.env['PATH'], PORT: String(this.port), ...this.#environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    const kill = (): void => void child.kill('SIGKILL');
    process.once('exit', kill);
    let isReady = false;
    const ready = new Promise<boolean>((resolve) => {
      child.once('exit', (code, signal) => {
        process.off('exit', kill);
        if (isReady && !this.#isTold) this.#events.onExit(this.index, String(code ?? signal), this.#lines);
        resolve(false);
      });
      const read = (line: string): void => {
        if (line.startsWith('Switchboard is ready')) {
          isReady = true;
          resolve(true);
        }
        this.#keep(line);
      };
      createInterface({ input: child.stdout }).on('line', read);
      createInterface({ input: child.stderr }).on('line', read);
    });
    return ready;
  }

  #keep(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length > KEPT_LINES) this.#lines.shift();
    if (!line.startsWith('{')) return;
    try {
      this.#events.onLine(this.index, JSON.parse(line) as LogLine);
    } catch {
      // The last line of a killed process is cut off.
    }
  }
}
