import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { findCycle, readImports, readSources, type SourceFile } from './support/imports.ts';

interface Ring {
  /** A file belongs to the first ring whose pattern its path matches. */
  readonly files: RegExp;
  /** Rings that its files may import, beside their own. */
  readonly rings: readonly string[];
  /** Packages that its files may import; `node:` stands for all that Node brings along. */
  readonly packages: readonly string[];
}

const inner = ['machines', 'kernel'];
const rules = [...inner, 'settings', 'host', 'contracts', 'telemetry', 'protocol'];

/** The rings of the architecture, from the inside out: imports point to rings that stand above. */
const rings: Readonly<Record<string, Ring>> = {
  machines: { files: /^machines\//, rings: [], packages: ['xstate'] },
  kernel: { files: /^src\/kernel\//, rings: [], packages: ['node:'] },
  settings: { files: /^config\/[\w-]+\.ts$/, rings: ['machines'], packages: ['zod', 'node:'] },
  host: { files: /^src\/actors\//, rings: ['kernel'], packages: ['xstate'] },
  /** What engines promise, and rules and texts that every engine shares. */
  contracts: {
    files: /contract\.ts$|^src\/(?:bots\/policy|mail\/templates\/[\w-]+|stores\/grouped|upstream\/defaults)\.ts$/,
    rings: [...inner, 'host', 'protocol'],
    packages: [],
  },
  drivers: {
    files: /^src\/(?:database|redis)\//,
    rings: ['kernel'],
    packages: ['postgres', '@electric-sql/pglite', '@redis/client', 'node:'],
  },
  engines: {
    files: /^src\/(?:bots|mail|stores|upstream)\//,
    rings: [...inner, 'settings', 'host', 'contracts', 'drivers'],
    packages: ['postgres', 'nodemailer', 'isbot', 'zod', 'node:'],
  },
  telemetry: { files: /^src\/telemetry\//, rings: inner, packages: ['pino', 'pino-pretty', 'prom-client'] },
  features: {
    files: /^src\/(?:auth|limits|operator|quota|tenants|voice)\//,
    rings: rules,
    packages: ['zod', 'jsonwebtoken', 'node:'],
  },
  /** The shapes of what goes over the wire, which browsers and the server share. */
  protocol: { files: /^src\/protocol\//, rings: ['machines', 'kernel'], packages: ['zod'] },
  /** How callers reach features: values in, values out, no socket. */
  edges: {
    files: /^src\/(?:channel|http)\//,
    rings: [...rules, 'features'],
    packages: ['zod', 'zod-openapi', 'node:'],
  },
  transport: {
    files: /^src\/transport\//,
    rings: ['kernel', 'protocol', 'edges'],
    packages: ['uws-current', 'uws-compatible', 'node:'],
  },
  web: { files: /^src\/web\//, rings: ['protocol'], packages: ['preact', '@preact/signals'] },
  app: {
    files: /^src\/app\//,
    rings: [...rules, 'drivers', 'engines', 'features', 'edges', 'transport'],
    packages: ['node:'],
  },
  cli: {
    files: /^src\/cli\//,
    rings: [...rules, 'drivers', 'engines', 'features', 'edges', 'transport', 'app'],
    packages: ['node:'],
  },
  main: { files: /^src\/main\.ts$/, rings: ['settings', 'cli'], packages: ['node:'] },
  build: {
    files: /^config\/[\w.-]+\.mjs$/,
    rings: [],
    packages: ['rolldown', 'vite', '@electric-sql/pglite', 'node:'],
  },
};

const maxLines = 300;
/** Settings come in by main.ts; the native server's header limit can only be given to it through the environment. */
const readsEnvironment = ['src/main.ts', 'src/transport/load.ts'];

const sources = readSources(fileURLToPath(new URL('..', import.meta.url)), ['config', 'machines', 'src']);

function ringOf(path: string): string | undefined {
  return Object.entries(rings).find(([, { files }]) => files.test(path))?.[0];
}

function isAllowed(name: string, allowed: readonly string[]): boolean {
  return allowed.some((entry) =>
    entry === 'node:' ? name.startsWith('node:') : name === entry || name.startsWith(`${entry}/`),
  );
}

/** What a file imports and its ring may not. */
function violations({ path, files, packages }: SourceFile): string[] {
  const name = ringOf(path);
  const ring = rings[name ?? ''];
  if (name === undefined || ring === undefined) return [`${path} is in no ring`];
  const strangers = files.filter((file) => {
    if (file === 'package.json') return name !== 'settings';
    const target = ringOf(file);
    return target !== name && !ring.rings.includes(target ?? '');
  });
  const unknown = packages.filter((imported) => !isAllowed(imported, ring.packages));
  return [
    ...strangers.map((file) => `${path} (${name}) imports ${file} (${ringOf(file) ?? 'no ring'})`),
    ...unknown.map((imported) => `${path} (${name}) imports the package ${imported}`),
  ];
}

/** The folder that is a machine: machines/<name>. */
function machineOf(path: string): string {
  return path.split('/').slice(0, 2).join('/');
}

describe('The rings', () => {
  test('hold every source file, and none of them is empty', () => {
    const used = new Set(sources.map(({ path }) => ringOf(path)));
    expect(sources.filter(({ path }) => ringOf(path) === undefined).map(({ path }) => path)).toEqual([]);
    expect(Object.keys(rings).filter((name) => !used.has(name))).toEqual([]);
  });

  test('are crossed only inwards', () => {
    expect(sources.flatMap(violations)).toEqual([]);
  });

  test('keep each machine to itself', () => {
    const crossing = sources
      .filter(({ path }) => ringOf(path) === 'machines')
      .flatMap(({ path, files }) => files.map((file) => [machineOf(path), machineOf(file)] as const));
    expect(crossing.length).toBeGreaterThan(0);
    expect(crossing.filter(([from, to]) => from !== to)).toEqual([]);
  });

  test('give browsers the types of the protocol and none of its code', () => {
    const shared = sources.filter(
      ({ path, files }) => ringOf(path) === 'web' && files.some((file) => ringOf(file) === 'protocol'),
    );
    const values = /^(?:import|export) (?!type )[^;]*\/protocol\//m;
    expect(shared.length).toBeGreaterThan(0);
    expect(shared.filter(({ text }) => values.test(text)).map(({ path }) => path)).toEqual([]);
  });

  test('have no circle of imports', () => {
    expect(findCycle(sources)).toBeUndefined();
  });
});

describe('A source file', () => {
  test(`has at most ${maxLines} lines`, () => {
    const lengths = sources.map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }));
    expect(lengths.filter(({ lines }) => lines > maxLines)).toEqual([]);
  });

  test('reads no environment: settings are given to it', () => {
    const reading = sources.filter(({ path, text }) => text.includes('process.env') && ringOf(path) !== 'build');
    expect(reading.map(({ path }) => path)).toEqual(readsEnvironment);
  });
});

describe('The check itself', () => {
  test.each([
    ['src/voice/x.ts', "import { listen } from '../transport/server.ts';"],
    ['src/voice/x.ts', "import type { HttpRequest } from '../http/message.ts';"],
    ['src/kernel/x.ts', "export { z } from 'zod';"],
    ['src/http/x.ts', "const uws = await import('uws-current');"],
    ['src/http/x.ts', "const uws = require('uws-current/uws.js');"],
    ['src/stores/bus/contract.ts', "import '../../database/pool.ts';"],
    ['machines/x/y.ts', "import {\n  now,\n} from '../../src/kernel/clock.ts';"],
    ['src/elsewhere/x.ts', ''],
  ])('sees that %s may not have: %s', (path, text) => {
    expect(violations(readImports(path, text))).toHaveLength(1);
  });

  test('does not take words in comments for imports', () => {
    const text = "// import { z } from 'zod';\n/* export * from 'zod' */\nimport { randomBytes } from 'node:crypto';";
    expect(readImports('src/kernel/x.ts', text).packages).toEqual(['node:crypto']);
  });

  test('finds circles', () => {
    const circle = [
      readImports('src/a.ts', "import './b.ts';"),
      readImports('src/b.ts', "import { c } from './c/c.ts';"),
      readImports('src/c/c.ts', "import type { A } from '../a.ts';"),
    ];
    expect(findCycle(circle)).toEqual(['src/a.ts', 'src/b.ts', 'src/c/c.ts', 'src/a.ts']);
  });
});
