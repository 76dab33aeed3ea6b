import { join } from 'node:path';
import type { Config } from '../../config/config.ts';
import type { Database } from './database.ts';
import { openEmbedded } from './embedded/embedded.ts';
import { openExternal } from './external.ts';

/**
 * The database of the configuration: the one at DATABASE_URL, else the embedded one in DATA_DIR.
 * @throws DirectoryInUse, UnusableDirectory for an embedded one
 */
export async function openDatabase({
  databaseUrl,
  dataDir,
}: Pick<Config, 'databaseUrl' | 'dataDir'>): Promise<Database> {
  return databaseUrl === undefined
    ? openEmbedded({ directory: join(dataDir, 'postgres') })
    : openExternal({ url: databaseUrl });
}
