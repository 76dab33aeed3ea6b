import { dirname } from 'node:path';
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

/**
 * The rings of the architecture, from the inside out: imports point to rings that stand above. Each row allows what its files really
 * use and nothing else.
 */
const rings: Readonly<Record<string, Ring>> = {
  machines: { files: /^machines\//, rings: [], packages: ['xstate'] },
  kernel: { files: /^src\/kernel\//, rings: [], packages: ['node:'] },
  /** How a variable is described and its text is read; what this build is. */
  kit: {
    files: /^config\/(?:variable|schemas|build-info)\.ts$/,
    rings: ['package.json'],
    packages: ['zod', 'node:'],
  },
  /** The variables of each feature, which only its own files and the table of all variables import. */
  variables: { files: /^src\/(?:[\w-]+\/)+variables\.ts$/, rings: ['kit', 'kernel'], packages: ['zod', 'node:'] },
  /** The table of all variables, and how the settings are read. */
  settings: {
    files: /^config\/[\w-]+\.ts$/,
    rings: ['kit', 'variables', 'kernel'],
    packages: ['zod'],
  },
  host: { files: /^src\/actors\//, rings: ['kernel'], packages: ['xstate'] },
  /** The shapes of what goes over the wire, which browsers and the server share. */
  protocol: { files: /^src\/protocol\//, rings: ['machines'], packages: ['zod'] },
  /** What engines promise, and rules and texts that every engine shares: no contract knows an engine. */
  contracts: {
    files: /contract\.ts$|^src\/mail\/templates\/[\w-]+\.ts$/,
    rings: ['machines', 'kernel', 'host', 'protocol'],
    packages: [],
  },
  /** This process among the nodes: what names it, its lease, and who else is alive. */
  node: { files: /^src\/node\//, rings: ['kernel', 'contracts', 'protocol'], packages: ['node:'] },
  database: {
    files: /^src\/database\//,
    rings: ['kernel'],
    packages: ['postgres', '@electric-sql/pglite', 'node:'],
  },
  redis: { files: /^src\/redis\//, rings: ['kernel'], packages: ['@redis/client', 'node:'] },
  bots: { files: /^src\/bots\//, rings: ['kernel', 'contracts', 'protocol'], packages: ['isbot', 'zod', 'node:'] },
  /** The one way to servers that tenants name. */
  outbound: { files: /^src\/outbound\//, rings: ['kit', 'variables', 'kernel', 'contracts'], packages: ['node:'] },
  mail: {
    files: /^src\/mail\//,
    rings: ['kernel', 'variables', 'contracts'],
    packages: ['nodemailer', 'zod', 'node:'],
  },
  /** An agent that says back what it hears: a product of its own, which knows nothing of this one. */
  echo: { files: /^packages\/echo\//, rings: [], packages: ['werift', 'node:'] },
  upstream: {
    files: /^src\/upstream\//,
    rings: ['kernel', 'settings', 'echo', 'contracts', 'protocol'],
    packages: ['zod', 'ws', 'jsonwebtoken', 'node:'],
  },
  stores: {
    files: /^src\/stores\//,
    rings: ['node', 'machines', 'kernel', 'contracts', 'protocol', 'database', 'redis'],
    packages: ['postgres', 'node:'],
  },
  telemetry: {
    files: /^src\/telemetry\//,
    rings: ['machines', 'kernel', 'contracts', 'protocol'],
    packages: ['pino', 'pino-pretty', 'prom-client', '@opentelemetry/api'],
  },
  /** Features: each row names the features that it may know. */
  auth: {
    files: /^src\/auth\//,
    rings: ['kit', 'variables', 'machines', 'kernel', 'host', 'contracts', 'protocol'],
    packages: ['jsonwebtoken', 'node:'],
  },
  'tenant secrets': {
    files: /^src\/tenant-secrets\//,
    rings: ['kernel', 'contracts', 'protocol'],
    packages: ['node:'],
  },
  /** How webhooks and requests to tools are signed. */
  signature: { files: /^src\/webhooks\/signature\.ts$/, rings: [], packages: ['node:'] },
  webhooks: {
    files: /^src\/webhooks\//,
    rings: ['machines', 'kernel', 'host', 'contracts', 'protocol', 'telemetry', 'tenant secrets', 'signature'],
    packages: [],
  },
  'rate-limits': {
    files: /^src\/rate-limits\//,
    rings: ['kit', 'variables', 'contracts', 'protocol'],
    packages: [],
  },
  tenants: {
    files: /^src\/tenants\//,
    rings: ['kernel', 'contracts', 'protocol'],
    packages: ['zod', 'node:'],
  },
  quota: {
    files: /^src\/(?:quota|budgets)\//,
    rings: ['machines', 'kernel', 'kit', 'variables', 'settings', 'host', 'contracts', 'protocol', 'tenants'],
    packages: ['node:'],
  },
  metering: {
    files: /^src\/metering\//,
    rings: ['machines', 'kernel', 'settings', 'prices.json', 'contracts', 'protocol', 'tenants', 'quota'],
    packages: ['zod', 'node:'],
  },
  sessions: {
    files: /^src\/sessions\//,
    rings: ['machines', 'kernel', 'settings', 'host', 'contracts', 'telemetry', 'protocol', 'auth', 'tenants', 'quota'],
    packages: ['node:'],
  },
  calls: {
    files: /^src\/calls\//,
    rings: ['node', 'machines', 'kernel', 'host', 'contracts', 'telemetry', 'protocol', 'signature'],
    packages: ['node:'],
  },
  /** The meter beside the provider's bill. */
  reconciliation: {
    files: /^src\/reconciliation\//,
    rings: ['kernel', 'contracts', 'telemetry', 'protocol'],
    packages: [],
  },
  /** How long everything is kept. */
  retention: {
    files: /^src\/retention\//,
    rings: ['kit', 'variables', 'kernel', 'contracts', 'auth', 'quota'],
    packages: [],
  },
  /** What leaves as files, for the API and the command. */
  exports: { files: /^src\/exports\//, rings: ['machines', 'kernel', 'contracts', 'protocol'], packages: [] },
  /** What operators are answered: the routes of `src/operators`. Only the list of all routes imports them. */
  'operator routes': {
    files: /^src\/operators\/(?:.*[/-])?routes?\.ts$/,
    rings: [
      'machines',
      'kernel',
      'kit',
      'contracts',
      'protocol',
      'auth',
      'tenant secrets',
      'tenants',
      'sessions',
      'exports',
      'webhooks',
      'operators',
      'http',
    ],
    packages: ['zod'],
  },
  /** What operators are shown of all features, and what they change in them. */
  operators: {
    files: /^src\/operators\//,
    rings: [
      'settings',
      'telemetry',
      'machines',
      'kernel',
      'host',
      'contracts',
      'protocol',
      'auth',
      'tenants',
      'quota',
      'sessions',
    ],
    packages: ['xstate', 'zod', 'node:'],
  },
  /** What operators are told as it happens. */
  feed: {
    files: /^src\/feed\//,
    rings: ['node', 'machines', 'kernel', 'host', 'contracts', 'protocol', 'operators'],
    packages: [],
  },
  /** How callers reach features: values in, values out, no socket. The two ways do not know each other. */
  channel: {
    files: /^src\/channel\//,
    rings: [
      'node',
      'machines',
      'kernel',
      'settings',
      'contracts',
      'telemetry',
      'protocol',
      'auth',
      'rate-limits',
      'quota',
      'sessions',
    ],
    packages: ['zod'],
  },
  'all routes': {
    files: /^src\/http\/routes\/all\.ts$/,
    rings: ['kit', 'operator routes', 'http'],
    packages: [],
  },
  http: {
    files: /^src\/http\//,
    rings: [
      'node',
      'machines',
      'kernel',
      'settings',
      'contracts',
      'telemetry',
      'protocol',
      'auth',
      'tenant secrets',
      'rate-limits',
      'tenants',
      'quota',
      'sessions',
      'calls',
      'webhooks',
      'operators',
    ],
    packages: ['zod', 'zod-openapi', 'node:'],
  },
  /** Documents and files for people, by the routes of http: pages, the API reference, what pages load. */
  site: {
    files: /^src\/site\//,
    rings: ['kernel', 'kit', 'contracts', 'protocol', 'tenants', 'http'],
    packages: ['node:'],
  },
  transport: {
    files: /^src\/transport\//,
    rings: ['node', 'kernel', 'protocol', 'http'],
    packages: ['uws-current', 'uws-compatible', 'node:'],
  },
  /** The one part of what browsers get that brings packages along. */
  console: {
    files: /^src\/web\/console\//,
    rings: ['protocol', 'web'],
    packages: ['preact', 'preact-iso', '@preact/signals', '@tanstack/virtual-core'],
  },
  /** The SDK's hook, of the package alone. */
  react: { files: /^src\/web\/react\//, rings: ['web'], packages: ['react'] },
  /** Types of the tag for frameworks, of the package alone. */
  tags: { files: /^src\/web\/tags\//, rings: ['web'], packages: ['preact', 'svelte/elements', 'vue'] },
  web: { files: /^src\/web\//, rings: ['protocol'], packages: [] },
  app: {
    files: /^src\/app\//,
    rings: [
      'node',
      'kernel',
      'kit',
      'settings',
      'contracts',
      'telemetry',
      'protocol',
      'database',
      'bots',
      'outbound',
      'mail',
      'upstream',
      'stores',
      'auth',
      'tenant secrets',
      'rate-limits',
      'tenants',
      'quota',
      'metering',
      'sessions',
      'calls',
      'reconciliation',
      'retention',
      'webhooks',
      'operators',
      'feed',
      'channel',
      'http',
      'all routes',
      'site',
      'transport',
    ],
    packages: ['@opentelemetry/api', 'node:'],
  },
  cli: {
    files: /^src\/cli\//,
    rings: [
      'kernel',
      'kit',
      'settings',
      'contracts',
      'telemetry',
      'protocol',
      'database',
      'upstream',
      'stores',
      'tenants',
      'tenant secrets',
      'webhooks',
      'metering',
      'quota',
      'exports',
      'reconciliation',
      'all routes',
      'transport',
      'app',
    ],
    packages: ['node:'],
  },
  main: { files: /^src\/main\.ts$/, rings: ['cli'], packages: ['node:'] },
  build: {
    files: /^scripts\/[\w-]+\.mjs$/,
    rings: [],
    packages: ['rolldown', 'vite', 'elkjs', 'marked', 'node:'],
  },
  /** Read as data: what models cost, and the version. */
  'prices.json': { files: /^config\/prices\.json$/, rings: [], packages: [] },
  'package.json': { files: /^package\.json$/, rings: [], packages: [] },
};

const maxLines = 300;
/** Settings come in by main.ts; the build puts its own in; the native server's header limit can only be given to it through the environment. */
const readsEnvironment = ['config/build-info.ts', 'src/main.ts', 'src/transport/load-uws.ts'];

const sources = readSources(fileURLToPath(new URL('..', import.meta.url)), [
  'config',
  'machines',
  'packages/echo',
  'scripts',
  'src',
]);

function ringOf(path: string): string | undefined {
  return Object.entries(rings).find(([, { files }]) => files.test(path))?.[0];
}

function matches(name: string, entry: string): boolean {
  return entry === 'node:' ? name.startsWith('node:') : name === entry || name.startsWith(`${entry}/`);
}

/** Whether a file has the variables of another feature than the importing one. */
function isOfAnother(file: string, importing: string): boolean {
  return ringOf(file) === 'variables' && !importing.startsWith(`${dirname(file)}/`);
}

/** What a file imports and its ring may not. */
function violations({ path, files, packages }: SourceFile): string[] {
  const name = ringOf(path);
  const ring = rings[name ?? ''];
  if (name === undefined || ring === undefined) return [`${path} is in no ring`];
  const strangers = files.filter(
    (file) => ![name, ...ring.rings].includes(ringOf(file) ?? '') || (name !== 'settings' && isOfAnother(file, path)),
  );
  const unknown = packages.filter((imported) => !ring.packages.some((entry) => matches(imported, entry)));
  return [
    ...strangers.map((file) => `${path} (${name}) imports ${file} (${ringOf(file) ?? 'no ring'})`),
    ...unknown.map((imported) => `${path} (${name}) imports the package ${imported}`),
  ];
}

/** What a ring is allowed and none of its files imports. */
function unusedIn(files: readonly SourceFile[]): string[] {
  return Object.entries(rings).flatMap(([name, { rings: allowed, packages }]) => {
    const members = files.filter(({ path }) => ringOf(path) === name);
    const reached = new Set(members.flatMap((member) => member.files.map(ringOf)));
    const imported = members.flatMap((member) => member.packages);
    return [
      ...allowed.filter((ring) => !reached.has(ring)),
      ...packages.filter((entry) => !imported.some((used) => matches(used, entry))),
    ].map((permission) => `${name} does not use ${permission}`);
  });
}

/** The folder that is a machine: machines/<name>. */
function machineOf(path: string): string {
  return path.split('/').slice(0, 2).join('/');
}

describe('The rings', () => {
  test('hold every source file, and none of them is empty', () => {
    const used = new Set([...sources.map(({ path }) => path), 'config/prices.json', 'package.json'].map(ringOf));
    expect(sources.filter(({ path }) => ringOf(path) === undefined).map(({ path }) => path)).toEqual([]);
    expect(Object.keys(rings).filter((name) => !used.has(name))).toEqual([]);
  });

  test('are crossed only inwards', () => {
    expect(sources.flatMap(violations)).toEqual([]);
  });

  test('are allowed nothing that they do not use', () => {
    expect(unusedIn(sources)).toEqual([]);
  });

  test('keep each machine to itself, but that of held calls, which follows the record of its call', () => {
    const crossing = sources
      .filter(({ path }) => ringOf(path) === 'machines')
      .flatMap(({ path, files }) => files.map((file) => [machineOf(path), machineOf(file)] as const));
    expect(crossing.length).toBeGreaterThan(0);
    const known = crossing
      .filter(([from, to]) => from !== to && to !== 'machines/durations.ts')
      .map((pair) => pair.join(' knows '));
    expect([...new Set(known)]).toEqual(['machines/held-call knows machines/voice-call']);
  });

  test('give browsers the types and the words of the protocol, how CSV and money are written, and none else of its code', () => {
    const shared = sources.filter(
      ({ path, files }) => path.startsWith('src/web/') && files.some((file) => ringOf(file) === 'protocol'),
    );
    const values =
      /^(?:import|export) (?!type )[^;]*\/protocol\/(?!error-translations\/|operator\/(?:end-labels|hangup)\.ts|(?:csv|money)\.ts)/m;
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
    ['src/sessions/x.ts', "import { listen } from '../transport/server.ts';"],
    ['src/sessions/x.ts', "import type { HttpRequest } from '../http/message.ts';"],
    ['src/kernel/x.ts', "export { z } from 'zod';"],
    ['src/http/x.ts', "const uws = await import('uws-current');"],
    ['src/http/x.ts', "const uws = require('uws-current/uws.js');"],
    ['src/stores/bus/contract.ts', "import '../../database/pool.ts';"],
    ['machines/x/y.ts', "import {\n  now,\n} from '../../src/kernel/time.ts';"],
    ['src/quota/x.ts', "import type { VoiceSessions } from '../sessions/sessions.ts';"],
    ['src/channel/x.ts', "import { sample } from '../http/samples.ts';"],
    ['src/kernel/x.ts', "import { version } from '../../package.json';"],
    ['src/sessions/variables.ts', "import { readConfig } from '../../config/config.ts';"],
    ['src/quota/x.ts', "import { sessionTimes } from '../sessions/variables.ts';"],
    ['src/sessions/variables.ts', "import { access } from '../auth/variables.ts';"],
    ['config/schemas.ts', "import { sessionTimes } from '../src/sessions/variables.ts';"],
    ['src/elsewhere/x.ts', ''],
  ])('sees that %s may not have: %s', (path, text) => {
    expect(violations(readImports(path, text))).toHaveLength(1);
  });

  test('sees a permission that nothing needs any more', () => {
    const rest = sources.filter(({ packages }) => !packages.includes('isbot'));
    expect(unusedIn(rest)).toEqual(['bots does not use isbot']);
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
