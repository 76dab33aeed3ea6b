import { join } from 'node:path';
import type { Database } from '../../src/database/database.ts';
import { openEmbedded } from '../../src/database/embedded/embedded.ts';
import { openExternal } from '../../src/database/open.ts';
import { PATIENT_MS } from './soon.ts';
import type { Environment } from './switchboard.ts';

/** Opens the database in which a server with these settings stores its data; for an embedded one the server must not be running. */
export function openStored({ DATABASE_URL: url = '', DATA_DIR: directory = '' }: Environment): Promise<Database> {
  return Promise.resolve(
    url === ''
      ? openEmbedded({ directory: join(directory, 'postgres'), deadlineMs: PATIENT_MS })
      : openExternal({ url, deadlineMs: PATIENT_MS }),
  );
}
