import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The built service, as `npm start` runs it. */
const bundle = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const READY = /Switchboard is ready at (http:\/\/localhost:(\d+))/;
/** A start or a command that takes longer is hung: it is killed, so that its test can report what it printed. */
const START_MS = 240_000;

/** The environment of the child process, which inherits no other variable. */
export type Environment = Readonly<Record<string, string>>;

export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Settings for tests about a server that hangs. */
export const promptly: Environment = { DATABASE_DEADLINE_MS: '800', REDIS_DEADLINE_MS: '450' };

/** Long deadlines: a machine that is busy with other tests is no outage, so nothing may be refused for coming late. */
export const patiently: Environment = { DATABASE_DEADLINE_MS: '60000', REDIS_DEADLINE_MS: '60000' };

/** The outcome of a command that ended. */
export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `switchboard <args>` and waits for its end; a command that hangs is killed. */
export async function runToEnd(args: readonly string[], environment: Environment): Promise<Finished> {
  const child = launch(args, environment);
  const output = collect(child);
  const timer = setTimeout(() => child.kill('SIGKILL'), START_MS);
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(timer);
  return { code, stdout: output.stdout, stderr: output.stderr };
}

/** The service in a child process on a free port. */
export class Switchboard {
  readonly origin: string;
  readonly port: number;
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #output: { readonly stdout: string; readonly stderr: string };

  private constructor(child: ChildProcess, output: Switchboard['output'], ready: RegExpExecArray) {
    this.#child = child;
    this.#output = output;
    this.origin = ready[1] ?? '';
    this.port = Number(ready[2]);
    this.pid = child.pid ?? 0;
  }

  /** @throws Error with everything the process printed when it ends before it is ready */
  static async start(environment: Environment, limits: { readonly openFiles?: number } = {}): Promise<Switchboard> {
    const child = launch([], { PORT: '0', ...environment }, limits.openFiles);
    const output = collect(child);
    const ready = await new Promise<RegExpExecArray>((resolve, reject) => {
      const fail = (what: string): void => reject(new Error(`${what}\n${output.stdout}${output.stderr}`));
      const timer = setTimeout(() => {
        child.kill('SIGKILL');
        fail('the service was not ready in time');
      }, START_MS);
      child.stdout?.on('data', () => {
        const match = READY.exec(output.stdout);
        if (match !== null) {
          clearTimeout(timer);
          resolve(match);
        }
      });
      child.once('close', (code) => {
        clearTimeout(timer);
        fail(`the service ended with ${code} before it was ready`);
      });
    });
    return new Switchboard(child, output, ready);
  }

  /** Everything the process has printed so far. */
  get output(): { readonly stdout: string; readonly stderr: string } {
    return this.#output;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Sends a signal and waits for the process to end. */
  async end(signal: 'SIGTERM' | 'SIGINT' | 'SIGKILL' = 'SIGTERM'): Promise<Ending> {
    if (this.isRunning) {
      const closed = once(this.#child, 'close');
      this.#child.kill(signal);
      await closed;
    }
    return { code: this.#child.exitCode, signal: this.#child.signalCode };
  }
}

function launch(args: readonly string[], environment: Environment, openFiles?: number): ChildProcess {
  const command = [process.execPath, bundle, ...args];
  const limited =
    openFiles === undefined ? command : ['/bin/sh', '-c', `ulimit -n ${openFiles} && exec "$0" "$@"`, ...command];
  const [program = '', ...rest] = limited;
  const child = spawn(program, rest, {
    env: { PATH: process.env['PATH'], ...patiently, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // An interrupted test run must leave no service behind.
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('close', () => process.off('exit', kill));
  return child;
}

function collect(child: ChildProcess): { stdout: string; stderr: string } {
  const output = { stdout: '', stderr: '' };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  return output;
}
