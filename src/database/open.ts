import { join } from 'node:path';
import type { Database } from './database.ts';
import { openEmbedded } from './embedded/embedded.ts';
import { openExternal } from './external.ts';

/** Where the database is, in the configuration's words. */
export interface DatabasePlace {
  readonly databaseUrl: string | undefined;
  readonly dataDir: string;
}

/**
 * The database of the configuration: the one at DATABASE_URL, else the embedded one in DATA_DIR.
 * @throws DirectoryInUse, UnusableDirectory for an embedded one
 */
export async function openDatabase({ databaseUrl, dataDir }: DatabasePlace): Promise<Database> {
  return databaseUrl === undefined
    ? openEmbedded({ directory: join(dataDir, 'postgres') })
    : openExternal({ url: databaseUrl });
}
