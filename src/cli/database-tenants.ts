import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../config/config.ts';
import { requireMigrated } from '../database/migrate.ts';
import { openDatabase } from '../database/open.ts';
import { createPostgresTenants } from '../stores/tenants/postgres.ts';
import type { Tenant } from '../stores/tenants/contract.ts';

/**
 * The tenants of the database, with the keys that no file names; undefined if there is no embedded database yet. It changes nothing, not
 * even an old schema.
 * @throws what `openDatabase` and `requireMigrated` throw
 */
export async function readDatabaseTenants(config: Config): Promise<readonly Tenant[] | undefined> {
  if (config.databaseUrl === undefined && !existsSync(join(config.dataDir, 'postgres'))) return undefined;
  const database = await openDatabase(config);
  try {
    await requireMigrated(database);
    return await createPostgresTenants(database).all();
  } finally {
    await database.close();
  }
}
