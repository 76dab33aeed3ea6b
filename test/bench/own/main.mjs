// What our own code costs per heartbeat, without the kernel and uWebSockets.js: time, and the garbage that it makes.
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { build } from 'rolldown';
import { temporaryDirectory } from '../support/leftovers.mjs';
import { firstMatch, median, spawnNode, stopChild } from '../support/measure.mjs';
import { WrongOption } from '../support/options.mjs';
import { startPostgres } from '../support/postgres.mjs';
import { interleave } from '../support/rounds.mjs';
import { withParts } from '../support/started.mjs';

const root = path.resolve(import.meta.dirname, '../../..');

export const usage = `Options:
  --rounds <n>      interleaved rounds, each in processes of its own (5)
  --cookie          requests carry the console cookie of a login
  --other <path>    another checkout, measured next to this one
  --profile <path>  a directory for each process's CPU profile, to be opened in Chromium's developer tools; this makes
                    heartbeats a little slower`;

export const defaults = { rounds: 5, cookie: false, other: '', profile: '' };

export const brief = ['--rounds', '3'];

export async function run(options) {
  return withParts(async (start) => {
    const checkouts = [{ label: 'this checkout', folder: root, results: [] }];
    if (options.other !== '')
      checkouts.push({ label: 'other checkout', folder: path.resolve(options.other), results: [] });
    for (const checkout of checkouts) {
      const { file } = await start(bundleOf(checkout.folder));
      checkout.file = file;
    }
    await interleave(options.rounds, checkouts, async (checkout) => {
      checkout.results.push(await measure(checkout, options));
    });
    return [tableOf(checkouts, options)];
  });
}

/** Bundles inside the checkout, where its modules find their packages. */
async function bundleOf(folder) {
  if (!existsSync(`${folder}/node_modules`))
    throw new WrongOption(`${folder} is not a checkout with its packages installed: run \`npm ci\` there`);
  const { directory, stop } = temporaryDirectory(path.join(folder, 'node_modules/.bench-own-'));
  const file = path.join(directory, 'beats.js');
  await build({
    input: path.join(import.meta.dirname, 'beats.mjs'),
    platform: 'node',
    plugins: [{ name: 'checkout', resolveId: (source, importer) => placeIn(folder, source, importer) }],
    external: ['@electric-sql/pglite', 'uws-current', 'uws-compatible', 'werift'],
    output: { file, codeSplitting: false },
    logLevel: 'silent',
  });
  return { file, stop };
}

/** Replaces what beats.mjs imports from this checkout with the same file of the other one. */
function placeIn(folder, source, importer) {
  if (importer === undefined || path.dirname(importer) !== import.meta.dirname || !source.startsWith('.'))
    return undefined;
  return path.join(folder, path.relative(root, path.resolve(import.meta.dirname, source)));
}

async function measure({ folder, file }, { cookie, profile }) {
  const database = await startPostgres();
  const migrations = `${path.join(folder, 'src/database/migrations')}/`;
  const flags = ['--expose-gc', '--max-semi-space-size=64', ...profileFlags(profile)];
  const child = spawnNode(0, [...flags, file, database.url, migrations, String(cookie)], { cwd: folder });
  try {
    const [line] = await firstMatch(child, /\{.*\}\n/, 300);
    // The process writes its profile last.
    if (profile !== '' && child.exitCode === null) await once(child, 'exit');
    return JSON.parse(line);
  } finally {
    await stopChild(child);
    await database.stop();
  }
}

function profileFlags(directory) {
  return directory === '' ? [] : ['--cpu-prof', `--cpu-prof-dir=${path.resolve(directory)}`];
}

function tableOf(checkouts, { rounds, cookie }) {
  const rows = checkouts.map(({ label, results }) => {
    const batches = results.flatMap((result) => result.batches);
    return {
      heartbeats: label,
      'ns, fastest batch': Math.round(Math.min(...batches)),
      'ns, median batch': Math.round(median(batches)),
      'bytes of garbage': Math.round(median(results.map(({ bytes }) => bytes))),
    };
  });
  return {
    title: `Our own code per heartbeat over HTTP${cookie ? ' with a console cookie' : ''}`,
    rows,
    notes: [
      `${rounds} rounds of 60 batches. The fastest batch is the one that other work on the machine disturbed least.`,
    ],
  };
}
