/**
 * Builds dist/ from the sources:
 *
 *   dist/main.js             the service and its lazy chunks, with source maps, including the echo of packages/echo
 *   dist/pglite-worker.js    the thread of the embedded database
 *   dist/migrations/         SQL files
 *   dist/pglite-template/    an empty database with the schema, so that the first start is quick
 *   dist/charts.json         drawings of the machines
 *   dist/web/                the files for browsers
 *   dist/THIRD-PARTY-NOTICES.md   the licences of what is bundled
 *   dist/sbom.cdx.json       what is bundled, and what is installed beside it (CycloneDX)
 *   packages/client/dist/    the same SDK as a package
 *
 * `node scripts/build.mjs` always builds; with `--if-stale` only if a source is newer than dist/main.js, which is
 * replaced last, so that a build that failed halfway is still stale. With `--assets` it builds everything except the service itself,
 * for tests that run the sources.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { buildCharts, charts, chartSources } from './build-charts.mjs';
import { buildGuides } from './build-guides.mjs';
import { buildWithVite, stamp as webStamp } from './build-web.mjs';
import { leanRedis } from './lean-redis.mjs';
import { collectPackages, noticesAsMarkdown } from './notices.mjs';
import { makeSbom } from './sbom.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const bundle = join(dist, 'main.js');
const entry = join(root, 'src/main.ts');
const sources = ['src', 'machines', 'packages/echo', 'config', 'scripts', 'docs', 'package-lock.json'].map((name) =>
  join(root, name),
);

/** Packages that are not bundled: native ones, those that read files beside their own, and an optional dependency. */
const external = ['uws-current', 'uws-compatible', '@electric-sql/pglite', 'werift'];

/** How long old chunks are kept, because a process that runs an older build may still load them. */
const KEEP_OLD_CHUNKS_MS = 60 * 60 * 1000;

const require = createRequire(import.meta.url);

/** @returns {number} the newest modification time under a path, in milliseconds; 0 if it does not exist */
function newest(path) {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats?.isDirectory()) {
    return stats?.mtimeMs ?? 0;
  }
  return readdirSync(path).reduce((latest, name) => Math.max(latest, newest(join(path, name))), stats.mtimeMs);
}

function isFresh() {
  return existsSync(bundle) && Math.max(...sources.map(newest)) <= statSync(bundle).mtimeMs;
}

/** Loads the bundler, a development dependency that production installations lack. */
async function loadBundler() {
  try {
    return await import('rolldown');
  } catch (error) {
    if (error.code === 'ERR_MODULE_NOT_FOUND') {
      return undefined;
    }
    throw error;
  }
}

/** Makes source maps for our own sources only: Node keeps maps in memory, and those of dependencies took 30 MB. */
const noMapsOfDependencies = {
  name: 'no-maps-of-dependencies',
  transform: {
    filter: { id: /\/node_modules\// },
    handler: (code) => ({ code, map: { version: 3, sources: [], names: [], mappings: '' } }),
  },
};

/** Bundles the service into `dist`. main.js is written last, with the start of the build as its modification time. */
async function bundleService({ build }, startedAt) {
  const packages = collectPackages();
  const { output } = await build({
    input: { main: entry },
    platform: 'node',
    plugins: [leanRedis, noMapsOfDependencies, packages.plugin],
    transform: {
      define: {
        'process.env.SWITCHBOARD_REPOSITORY': JSON.stringify(process.env.SWITCHBOARD_REPOSITORY) ?? 'undefined',
      },
    },
    external: (id) => external.some((name) => id === name || id.startsWith(`${name}/`)),
    write: false,
    output: {
      dir: dist,
      format: 'esm',
      sourcemap: true,
      entryFileNames: '[name].js',
      chunkFileNames: '[name]-[hash].js',
    },
  });
  for (const file of output.filter(({ fileName }) => fileName !== 'main.js')) {
    await writeFile(join(dist, file.fileName), file.type === 'chunk' ? file.code : withoutSources(file.source));
  }
  await listPackages([...packages.folders(), ...JSON.parse(readFileSync(webStamp, 'utf8'))]);
  await removeOldChunks(new Set(output.map(({ fileName }) => fileName)));

  const next = `${bundle}.${process.pid}`;
  await writeFile(next, output.find(({ fileName }) => fileName === 'main.js').code);
  await utimes(next, startedAt, startedAt);
  await chmod(next, 0o755);
  await rename(next, bundle);
}

/** Lists the third-party code in this build, for licences and for finding vulnerable versions. */
async function listPackages(bundled) {
  await writeFile(join(root, 'dist/THIRD-PARTY-NOTICES.md'), noticesAsMarkdown(bundled));
  const read = (name) => JSON.parse(readFileSync(join(root, name), 'utf8'));
  const names = bundled.map((folder) => relative(root, folder));
  const sbom = makeSbom(
    read('package.json'),
    read('package-lock.json'),
    new Set(names),
    process.env.SWITCHBOARD_REPOSITORY,
  );
  await writeFile(join(dist, 'sbom.cdx.json'), `${JSON.stringify(sbom, null, 2)}\n`);
}

/** Removes the sources' texts from a map: Node keeps maps in memory, and stack traces do not need the texts. */
function withoutSources(map) {
  return JSON.stringify({ ...JSON.parse(map), sourcesContent: undefined });
}

async function removeOldChunks(present) {
  const chunks = (await readdir(dist)).filter((name) => /-[\w-]{8}\.js(?:\.map)?$/.test(name) && !present.has(name));
  for (const name of chunks) {
    const { mtimeMs } = await stat(join(dist, name));
    if (Date.now() - mtimeMs > KEEP_OLD_CHUNKS_MS) {
      await rm(join(dist, name), { force: true });
    }
  }
}

/** Copies the files that the service reads beside its bundle. */
async function copyServiceFiles() {
  const database = join(root, 'src/database');
  await cp(join(database, 'embedded/pglite-worker.js'), join(dist, 'pglite-worker.js'));
  const [from, to] = [join(database, 'migrations'), join(dist, 'migrations')];
  await cp(from, to, { recursive: true });
  const removed = (await readdir(to)).filter((name) => !existsSync(join(from, name)));
  await Promise.all(removed.map((name) => rm(join(to, name))));
}

/** Builds the files for browsers. Their bundler is slow to load, so it runs only if something has changed. */
async function buildWeb(startedAt) {
  await cp(join(root, 'src/web/static'), join(dist, 'web'), { recursive: true });
  const changedAt = Math.max(
    ...[
      'src/web',
      'src/protocol',
      'machines',
      'scripts/build-web.mjs',
      'scripts/build-client.mjs',
      'package-lock.json',
    ].map((name) => newest(join(root, name))),
  );
  if (changedAt > newest(webStamp)) {
    await buildWithVite(startedAt);
  }
  // The guides also depend on docs/ and on the address of the sources, so they are always built.
  await buildGuides();
}

/** Makes an empty database with this build's schema, to be copied at the first start: initdb takes seconds, and migrations take one. */
async function makeTemplate() {
  const template = join(dist, 'pglite-template');
  const label = join(dist, 'pglite-template.version');
  const version = await templateVersion();
  if (existsSync(template) && existsSync(label) && readFileSync(label, 'utf8') === version) {
    return;
  }
  const { runnerImport } = await import('vite');
  const maker = join(root, 'src/database/embedded/make-template.ts');
  const { module } = await runnerImport(maker, { root, configFile: false, logLevel: 'warn' });
  const fresh = await mkdtemp(`${template}-`);
  try {
    await module.makeTemplate(fresh);
    await rm(template, { recursive: true, force: true });
    await rename(fresh, template);
    await writeFile(label, version);
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

/** The hash of everything that the template is made from: PGlite, the migrations, and the code that runs them. */
async function templateVersion() {
  const installed = dirname(dirname(require.resolve('@electric-sql/pglite')));
  const { version } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  const hash = createHash('sha256').update(version);
  const database = join(root, 'src/database');
  const migrations = (await readdir(join(database, 'migrations'))).toSorted();
  for (const file of ['embedded/make-template.ts', 'migrate.ts', ...migrations.map((name) => `migrations/${name}`)])
    hash.update(`\n${file}\n`).update(readFileSync(join(database, file)));
  return hash.digest('hex');
}

/** Draws the machines if needed. The layout library is slow to load too. */
async function drawCharts(startedAt) {
  if (Math.max(...chartSources.map(newest)) > newest(charts)) {
    await buildCharts(startedAt);
  }
}

/**
 * Runs `requireDescriptions` from the sources. It is bundled for this, because Node 20 does not read TypeScript.
 * @throws if a field, parameter or header of the interface has no description (src/site/reference/undescribed.ts)
 */
async function checkDescriptions({ build }) {
  const { output } = await build({
    input: join(root, 'src/app/serve.ts'),
    platform: 'node',
    // What the bundler itself adds is not installed.
    external: (id) => /^[^./]/.test(id) && !id.startsWith(root) && !id.startsWith('@oxc-project/'),
    write: false,
    output: { format: 'esm', codeSplitting: false },
  });
  // In dist/, so that it finds the packages that it imports.
  const file = join(root, `dist/documents-${process.pid}.mjs`);
  try {
    await writeFile(file, output[0].code);
    const { requireDescriptions } = await import(pathToFileURL(file).href);
    requireDescriptions();
  } finally {
    await rm(file, { force: true });
  }
}

async function build() {
  const startedAt = new Date();
  await mkdir(dist, { recursive: true });
  await Promise.all([copyServiceFiles(), buildWeb(startedAt), drawCharts(startedAt), makeTemplate()]);
  if (process.argv.includes('--assets')) {
    return;
  }
  await checkDescriptions(bundler);
  await bundleService(bundler, startedAt);
  console.log(`built dist/main.js in ${((Date.now() - startedAt.getTime()) / 1000).toFixed(1)} s`);
}

const ifStale = process.argv.includes('--if-stale');
if (ifStale && isFresh()) {
  process.exit(0);
}
const bundler = await loadBundler();
if (bundler) {
  await build();
} else if (existsSync(bundle)) {
  console.log('development dependencies are not installed: keeping dist/ as it is');
} else {
  console.log('development dependencies are not installed: run `npm ci` without --omit=dev to build dist/');
  process.exitCode = ifStale ? 1 : 0;
}
