import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cp, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';
import { onTestFinished } from 'vitest';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Inside node_modules, so that bundles find their dependencies. */
const bundles = join(root, 'node_modules/.cache/switchboard-tests');

/**
 * Bundles a script of test/database/children for a process of its own: Node 20 cannot run TypeScript.
 *
 * @returns the path of the bundle.
 */
export async function bundleChild(name: string): Promise<string> {
  const file = join(bundles, `${name}.js`);
  const next = `${file}.${process.pid}`;
  await build({
    input: join(root, `test/database/children/${name}.ts`),
    platform: 'node',
    external: [/^@electric-sql\/pglite/],
    output: { file: next, format: 'esm' },
  });
  // Several processes may bundle at once: only complete files are moved into place.
  const worker = `${next}.worker`;
  await cp(join(root, 'src/database/embedded/pglite-worker.js'), worker);
  await rename(worker, join(bundles, 'pglite-worker.js'));
  await rename(next, file);
  return file;
}

export interface Child {
  readonly process: ChildProcess;
  /** Everything the child has printed so far. */
  output(): string;
  errors(): string;
  /** Resolves when the output matches; rejects when the child ends first. */
  printed(pattern: RegExp): Promise<void>;
  /** Kills the child with SIGKILL and waits for its end. */
  kill(): Promise<void>;
  /** Resolves with the exit code. */
  ended(): Promise<number | null>;
}

/** Runs a bundle in a process that ends with the test. */
export function runChild(file: string, ...args: readonly string[]): Child {
  const child = spawn(process.execPath, [file, ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
  let output = '';
  let errors = '';
  const closed = once(child, 'close');
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text;
  });
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return {
    process: child,
    output: () => output,
    errors: () => errors,
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (pattern.test(output)) {
            resolve();
          }
        };
        child.stdout.on('data', look);
        child.once('close', () => reject(new Error(`the child ended: ${output}${errors}`)));
        look();
      }),
    async kill() {
      child.kill('SIGKILL');
      await closed;
    },
    async ended() {
      await closed;
      return child.exitCode;
    },
  };
}
