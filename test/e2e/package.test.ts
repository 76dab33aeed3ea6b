import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rename, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
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
  readonly filename: string;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

const started: ChildProcess[] = [];
let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'switchboard-package-'))));
afterAll(async () => {
  // Kills whole process groups: these tests look for servers that outlive the npm that started them.
  for (const { pid } of started) killGroup(pid ?? 0);
  await rm(folder, { recursive: true, force: true });
});

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All processes of the group have ended.
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
  let packed: Packed;
  beforeAll(async () => {
    // Skips the build of `npm pack`: the tests have just built.
    const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
    const { stdout } = await run('npm', pack, { cwd: root });
    const report = JSON.parse(stdout) as readonly Packed[] | Readonly<Record<string, Packed>>;
    packed = Object.values(report)[0] as Packed;
  });

  test('contains the licence of each bundled package, for servers and for browsers', async () => {
    expect(packed.files.map((file) => file.path)).toContain('dist/THIRD-PARTY-NOTICES.md');
    const notices = await readFile(join(root, 'dist/THIRD-PARTY-NOTICES.md'), 'utf8');
    const titles = [...notices.matchAll(/^## (\S+) \d+\.\d+\.\d+\S*, \S+$/gm)].map(([, name]) => name);
    expect(titles).toEqual(expect.arrayContaining(['xstate', 'zod', 'postgres', 'pino', 'preact']));
    expect(notices.match(/Permission is hereby granted/g)?.length).toBeGreaterThan(3);
  });

  test('contains a bill of materials: what is installed with it, and what is bundled into it', async () => {
    expect(packed.files.map((file) => file.path)).toContain('dist/sbom.cdx.json');
    const sbom = JSON.parse(await readFile(join(root, 'dist/sbom.cdx.json'), 'utf8')) as {
      readonly components: readonly {
        readonly purl: string;
        readonly scope: string;
        readonly hashes?: readonly { readonly content: string }[];
      }[];
    };
    const { dependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
      readonly dependencies: Readonly<Record<string, string>>;
    };
    const bundled = {
      preact: JSON.parse(await readFile(join(root, 'node_modules/preact/package.json'), 'utf8')).version,
    };
    const purls = sbom.components.map(({ purl }) => purl);
    for (const [name, wanted] of Object.entries({ ...dependencies, ...bundled })) {
      const [, real = name, version = wanted] = /^npm:(.+)@([^@]+)$/.exec(wanted) ?? [];
      expect(purls).toContain(`pkg:npm/${real.replace('@', '%40')}@${version}`);
    }
    expect(purls.filter((purl) => /\/(?:vite|vitest|typescript)@/.test(purl))).toEqual([]);
    expect(new Set(purls).size).toBe(purls.length);
    // npm records no digests for native parts of other platforms; those are optional.
    const digests = sbom.components
      .filter(({ scope }) => scope === 'required')
      .map(({ hashes }) => hashes?.[0]?.content);
    expect(digests.filter((digest) => !/^[\da-f]{128}$/.test(digest ?? ''))).toEqual([]);
  });

  test('contains only files needed to run it', () => {
    const files = packed.files.map((file) => file.path);
    expect(files).toEqual(expect.arrayContaining(['README.md', 'LICENSE', 'config/tenants.json', 'dist/main.js']));
    expect(
      files.filter(
        (file) => /^(?:test|src|machines|packages|examples)\/|\.(?:ts|map)$/.test(file) && !file.endsWith('.d.ts'),
      ),
    ).toEqual([]);
    expect(packed.unpackedSize).toBeLessThan(12_000_000);
  });

  test('starts with `npx switchboard` alone, and prints the tag that puts its agent, an echo, on a page', async () => {
    // Lays the tarball out as npm would install it and links the dependencies that are installed here, because there is no network.
    await run('tar', ['-xzf', join(folder, packed.filename), '-C', folder]);
    const home = join(folder, 'node_modules/switchboard');
    await mkdir(join(folder, 'node_modules/.bin'), { recursive: true });
    await rename(join(folder, 'package'), home);
    const { dependencies, optionalDependencies } = JSON.parse(
      await readFile(join(home, 'package.json'), 'utf8'),
    ) as Readonly<Record<string, object | undefined>>;
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      await mkdir(dirname(join(home, 'node_modules', name)), { recursive: true });
      await symlink(join(root, 'node_modules', name), join(home, 'node_modules', name));
    }
    await symlink('../switchboard/dist/main.js', join(folder, 'node_modules/.bin/switchboard'));
    expect((await run('npx', ['switchboard', '--help'], { cwd: folder })).stdout).toContain('Usage: switchboard');

    const { child, client, printed } = await startBy('npx', ['switchboard'], folder, { npm_config_offline: 'true' });
    const { origin } = new URL(READY.exec(printed())?.[1] ?? '');
    await expect.poll(printed).toContain('</switchboard-widget>');
    const [, key = ''] =
      /<switchboard-widget widget-key="(w_demo_local_0+)" tenant-id="demo" agent-id="guide">/.exec(printed()) ?? [];
    expect(printed()).toContain(`<script src="${origin}/switchboard-widget.js" defer></script>`);
    expect((await client.get('/demo')).status).toBe(200);
    const created = await client.post(
      '/api/session',
      { widgetKey: key, tenantId: 'demo', agentId: 'guide' },
      { Origin: origin },
    );
    // The agent talks: the reply says where to call it.
    expect(created).toMatchObject({ status: 200, body: { call: { url: expect.stringContaining(origin) } } });
    // What Ctrl-C does in a terminal.
    process.kill(-(child.pid as number), 'SIGINT');
    await expect.poll(printed).toContain('"event":"service.stopped","isDrained":true');
  });
});

describe('npm start', () => {
  test('names the source files and lines in a stack trace', async () => {
    // Each write prints the stack of its caller.
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

  test.each(ways)('drains the server on %s', async (_how, signal, whom) => {
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
