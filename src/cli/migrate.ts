import { readConfig } from '../../config/config.ts';
import { openDatabase } from '../database/open.ts';
import { migrate } from '../database/migrate.ts';
import { exitCode, type Terminal } from './terminal.ts';

/**
 * `migrate`: updates the database to this build's schema, which `serve` does too; for deployments that migrate as a separate step.
 * @throws ConfigError, MigrationError, DirectoryInUse, Unavailable
 */
export async function run(_args: readonly string[], { out, env }: Terminal): Promise<number> {
  const database = await openDatabase(readConfig(env, ['DATABASE_URL']));
  try {
    const applied = await migrate(database);
    out.write(applied.length === 0 ? 'The database is up to date.\n' : `Applied ${applied.join(', ')}.\n`);
    return exitCode.ok;
  } finally {
    await database.close();
  }
}
