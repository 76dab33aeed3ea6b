import path from 'node:path';
import { temporaryDirectory } from '../support/leftovers.mjs';
import { startPostgres } from '../support/postgres.mjs';
import { startRedis } from '../support/redis.mjs';
import { migrate } from '../switchboard.mjs';
import { launch, launchNothing } from './launch.mjs';

const root = path.resolve(import.meta.dirname, '../../..');
const npmStart = ['npm', 'start', '--silent'];

/**
 * The kinds of start, `node -e 0` first. Each has `once()`, which measures one start.
 * @param start of `withParts`: services and directories are removed with the run
 */
export async function kindsOf(start, { rest, other }) {
  const kinds = [{ label: 'node -e 0', once: launchNothing }];
  const builds = [['', `${root}/dist`], ...(other === '' ? [] : [[', other build', path.resolve(other)]])];
  for (const [which, dist] of builds) {
    const command = [process.execPath, `${dist}/main.js`];
    kinds.push(...(await embedded(start, rest, command, `dist/main.js, embedded storage${which}`)));
    // Needs storage of its own: an older build does not start on the tables of a newer one.
    const options = { environment: await externalStorage(start, dist), rest };
    kinds.push({ label: `dist/main.js, external storage${which}`, once: () => launch(command, options) });
  }
  return [...kinds, ...(await embedded(start, rest, npmStart, 'npm start, embedded storage'))];
}

/** A first start creates a data directory that is thrown away; later starts share another one. */
async function embedded(start, rest, command, label) {
  const used = (await start(temporaryDirectory())).directory;
  await launch(command, { environment: { DATA_DIR: used }, rest: 0 });
  return [
    {
      label: `${label}, first`,
      once: async () => {
        const fresh = temporaryDirectory();
        try {
          return await launch(command, { environment: { DATA_DIR: fresh.directory }, rest });
        } finally {
          await fresh.stop();
        }
      },
    },
    { label: `${label}, later`, once: () => launch(command, { environment: { DATA_DIR: used }, rest }) },
  ];
}

/** Environment variables of a PostgreSQL, migrated for the build, and of a Redis. */
async function externalStorage(start, dist) {
  const [database, redis] = [await start(startPostgres()), await start(startRedis())];
  const environment = { DATABASE_URL: database.url, REDIS_URL: redis.url };
  await migrate(environment, dist);
  return environment;
}
