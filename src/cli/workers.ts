import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../../config/config.ts';
import type { Log } from '../telemetry/log.ts';
import { CannotListen } from '../transport/server.ts';
import { logOf, untilSignal, type StartedNode } from './run-node.ts';
import { exitCode, fail, type Terminal } from './terminal.ts';

const RESTART_MS = 100;
const MAX_RESTART_MS = 10_000;
/** A worker that ran for this long did not fail because of its start. */
const STEADY_MS = 30_000;

/** The place of one worker; when a worker ends, another takes its place. */
interface Place {
  worker: Worker;
  /** Consecutive workers that ended before they were steady. */
  failures: number;
}

/**
 * Runs `config.workers` processes of `entry` on one port until SIGTERM or SIGINT, and restarts those that end by themselves. SIGHUP
 * replaces all of them one after another, each new one ready before the old one drains, so that no accepted request is lost. New processes
 * load the built files as they are then.
 * @returns the exit code: 0 when all drained, 1 when one did not or the address is in use, or the first worker's code when it
 * could not start
 */
export async function superviseWorkers(
  config: Config,
  { err, env }: Terminal,
  entry: string,
  onStarted: (app: StartedNode) => void,
): Promise<number> {
  const stopped = untilSignal('SIGTERM', 'SIGINT');
  let port: number;
  try {
    port = await claimPort(config.host, config.port);
  } catch (error) {
    if (!(error instanceof CannotListen)) throw error;
    return fail(err, error.message, exitCode.refused);
  }
  const log = logOf(config);
  const settings = { ...env, PORT: String(port), WORKERS: String(config.workers) };
  const workers = new Workers(() => new Worker(entry, settings), log);
  process.on('SIGHUP', () => workers.replaceAll());
  const started = workers.start(config.workers).then(onStarted);
  // After a signal it no longer matters why the start failed.
  started.catch(() => undefined);
  try {
    await Promise.race([started, stopped]);
  } catch (error) {
    await workers.stop();
    if (error instanceof WorkerEnded) return error.exitCode ?? exitCode.refused;
    throw error;
  }
  await stopped;
  log.info({ event: 'workers.stopping' });
  return (await workers.stop()) ? exitCode.ok : exitCode.refused;
}

class Workers {
  readonly #launch: () => Worker;
  readonly #log: Log;
  readonly #places: Place[] = [];
  /** All processes, including those that are starting or draining. */
  readonly #running = new Set<Worker>();
  #isStopping = false;
  #replacing: Promise<void> = Promise.resolve();
  #isReplacementWaiting = false;

  constructor(launch: () => Worker, log: Log) {
    this.#launch = launch;
    this.#log = log;
  }

  /** Starts one worker, which migrates the database, then the others. @throws WorkerEnded when one fails to start */
  start(count: number): Promise<StartedNode> {
    const started = this.#start(count);
    this.#replacing = started.then(
      () => undefined,
      () => undefined,
    );
    return started;
  }

  /** Replaces all workers one after another; a call meanwhile replaces them once more afterwards. */
  replaceAll(): void {
    if (this.#isReplacementWaiting) return;
    this.#isReplacementWaiting = true;
    this.#replacing = this.#replacing.then(async () => {
      this.#isReplacementWaiting = false;
      this.#log.info({ event: 'workers.replacing' });
      for (const place of this.#places) if (!(await this.#replace(place))) return;
      this.#log.info({ event: 'workers.replaced' });
    });
  }

  /** Drains all workers. @returns whether none had to be killed */
  async stop(): Promise<boolean> {
    this.#isStopping = true;
    const drained = await Promise.all([...this.#running].map((worker) => worker.stop()));
    return drained.every(Boolean);
  }

  async #start(count: number): Promise<StartedNode> {
    const first = this.#run();
    const started = await first.ready;
    this.#take({ worker: first, failures: 0 });
    const others = Array.from({ length: count - 1 }, () => this.#run());
    await Promise.all(others.map(({ ready }) => ready));
    for (const worker of others) this.#take({ worker, failures: 0 });
    return started;
  }

  #run(): Worker {
    const worker = this.#launch();
    this.#running.add(worker);
    void worker.ended.then(() => this.#running.delete(worker));
    return worker;
  }

  #take(place: Place): void {
    this.#places.push(place);
    void this.#keep(place);
  }

  /** Starts a new worker in this place whenever its worker ends by itself. */
  async #keep(place: Place): Promise<void> {
    while (!this.#isStopping) {
      const { worker } = place;
      const code = await worker.ended;
      if (this.#isStopping) return;
      if (place.worker !== worker) continue;
      place.failures = performance.now() - worker.startedAt < STEADY_MS ? place.failures + 1 : 0;
      const pauseMs = Math.min(MAX_RESTART_MS, RESTART_MS * 2 ** place.failures);
      this.#log.error({ event: 'worker.ended', pid: worker.pid, code, pauseMs });
      await delay(pauseMs);
      if (!this.#isStopping && place.worker === worker) place.worker = this.#run();
    }
  }

  /** Stops the old worker only once the new one is ready. @returns false if the new one failed to start, in which case the old one stays */
  async #replace(place: Place): Promise<boolean> {
    if (this.#isStopping) return false;
    const next = this.#run();
    try {
      await next.ready;
    } catch {
      if (!this.#isStopping) this.#log.error({ event: 'workers.replacing_failed', pid: next.pid });
      return false;
    }
    if (this.#isStopping) return false;
    const last = place.worker;
    place.worker = next;
    place.failures = 0;
    await last.stop();
    return true;
  }
}

/**
 * Checks exclusively that the port is free: workers share it, and could otherwise share it with other processes of the same user.
 * @returns the port, a free one for 0
 * @throws CannotListen
 */
async function claimPort(host: string, port: number): Promise<number> {
  const server = createServer().listen(port, host);
  try {
    await once(server, 'listening');
  } catch {
    throw new CannotListen(host, port);
  }
  const claimed = (server.address() as AddressInfo).port;
  server.close();
  await once(server, 'close');
  return claimed;
}

/** Longer than a worker takes for its own shutdown, shorter than the contract's ten seconds. */
const STOP_MS = 9500;

/** The worker ended before it was ready, and has printed why. */
class WorkerEnded extends Error {
  override readonly name = 'WorkerEnded';
  /** Null when a signal ended it. */
  readonly exitCode: number | null;

  constructor(exitCode: number | null) {
    super(`A worker ended with ${exitCode ?? 'a signal'} before it was ready.`);
    this.exitCode = exitCode;
  }
}

class Worker {
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
