import { join } from 'node:path';
import type { Database } from '../../src/database/database.ts';
import { openEmbedded } from '../../src/database/embedded/embedded.ts';
import { openExternal } from '../../src/database/external.ts';
import type { Environment } from './switchboard.ts';

/** As long as a machine takes that is busy with other tests. */
const deadlineMs = 60_000;

/** The database that a server with these settings keeps its truth in; of an embedded one the server must not run. */
export function openStored({ DATABASE_URL: url = '', DATA_DIR: directory = '' }: Environment): Promise<Database> {
  return Promise.resolve(
    url === ''
      ? openEmbedded({ directory: join(directory, 'postgres'), deadlineMs })
      : openExternal({ url, deadlineMs }),
  );
}
