import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Client } from '../support/client.ts';
import { freshDatabase } from '../support/services/fresh-database.ts';
import type { Environment } from '../support/switchboard.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const READY = /Switchboard is ready at (http:\/\/localhost:\d+)/;
const path = process.env['PATH'] ?? '';

interface Packed {
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

const started: ChildProcess[] = [];
let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'switchboard-package-'))));
afterAll(async () => {
  // With their groups: a server that outlives the npm that started it is what these tests look for.
  for (const { pid } of started) killGroup(pid ?? 0);
  await rm(folder, { recursive: true, force: true });
});

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All have ended.
  }
}

/** Starts a command that runs the service, and waits until it is ready. */
async function startBy(command: string, args: readonly string[], cwd: string, more: Environment = {}) {
  const env = { PATH: path, PORT: '0', DATA_DIR: await mkdtemp(join(folder, 'data-')), ...more };
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  let printed = '';
  const ended = once(child, 'exit');
  started.push(child);
  const ready = new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      const url = READY.exec(printed)?.[1];
      if (url !== undefined) resolve(url);
    });
    void ended.then(() => reject(new Error(`it ended before it was ready:\n${printed}`)));
  });
  const client = new Client(await ready.then((url) => () => url));
  return { child, client, ended, printed: () => printed };
}

describe('The package', () => {
  test('holds what runs and nothing else, and runs in a folder of its own', { timeout: 60_000 }, async () => {
    const { stdout } = await run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: root });
    const report = JSON.parse(stdout) as readonly Packed[] | Readonly<Record<string, Packed>>;
    const packed = Object.values(report)[0] as Packed;
    const files = packed.files.map((file) => file.path);
    expect(files).toEqual(expect.arrayContaining(['README.md', 'LICENSE', 'config/tenants.json', 'dist/main.js']));
    expect(
      files.filter((file) => /^(?:test|src|machines)\/|\.(?:ts|map)$/.test(file) && !file.endsWith('.d.ts')),
    ).toEqual([]);
    expect(packed.unpackedSize).toBeLessThan(12_000_000);

    const home = join(folder, 'node_modules/switchboard');
    for (const file of files) await cp(join(root, file), join(home, file), { recursive: true });
    await symlink(join(root, 'node_modules'), join(home, 'node_modules'));
    const bin = join(home, 'dist/main.js');
    expect((await run(bin, ['--help'], { cwd: folder })).stdout).toContain('Usage: switchboard');
    const { child, client, ended } = await startBy(bin, [], folder);
    expect((await client.get('/demo')).status).toBe(200);
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });
});

describe('npm start', () => {
  test('names the files and lines of the sources in a stack', async () => {
    // Every write tells from where.
    const telling =
      'const { write } = process.stdout; process.stdout.write = function (...args) { console.error(new Error().stack); return write.apply(this, args); };';
    const env = { PATH: path, NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(telling)}` };
    const { stderr } = await run('npm', ['start', '--silent', '--', '--help'], { cwd: root, env });
    expect(stderr).toMatch(/at .*\/src\/cli\/help\.ts:\d+:\d+/);
  });

  const ways: [how: string, signal: NodeJS.Signals, whom: (npm: number) => number][] = [
    ['SIGTERM to npm', 'SIGTERM', (npm) => npm],
    ['SIGINT to npm', 'SIGINT', (npm) => npm],
    ["a terminal's Ctrl-C, which npm passes on to a server that has heard it", 'SIGINT', (npm) => -npm],
  ];

  test.each(ways)('drains the server on %s', { timeout: 60_000 }, async (_how, signal, whom) => {
    const database = await freshDatabase();
    const more: Environment = database === undefined ? {} : { DATABASE_URL: database.url };
    const { child, client, ended, printed } = await startBy('npm', ['start'], root, more);
    expect((await client.get('/healthz')).status).toBe(200);
    process.kill(whom(child.pid as number), signal);
    await ended;
    await expect.poll(printed).toContain('"event":"service.stopped","isDrained":true');
    await expect(client.get('/healthz')).rejects.toThrow('fetch failed');
    await database?.drop();
  });
});
