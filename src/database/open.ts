import { join } from 'node:path';
import type { Database } from './database.ts';
import { openEmbedded } from './embedded/embedded.ts';
import { openExternal } from './external.ts';
import { awaitFirstAnswer } from './first-answer.ts';
import { patientWhile, type Patience } from './patience.ts';

/** Where the database is, in the words of the configuration. */
export interface DatabasePlace {
  readonly databaseUrl: string | undefined;
  readonly dataDir: string;
  /** How long a call may take, in milliseconds; by default the engine's own. */
  readonly databaseDeadlineMs?: number | undefined;
}

/**
 * Opens the configured database, the one at DATABASE_URL or else the embedded one in DATA_DIR, and waits until it has answered.
 * @param patience of its work; a command's is always that of a start
 * @throws DirectoryInUse, UnusableDirectory for an embedded one; Unavailable for one that does not answer
 */
export async function openDatabase(
  { databaseUrl, dataDir, databaseDeadlineMs }: DatabasePlace,
  patience: Readonly<Patience> = { isPatient: true },
): Promise<Database> {
  const deadline = databaseDeadlineMs === undefined ? {} : { deadlineMs: databaseDeadlineMs };
  if (databaseUrl === undefined)
    return patientWhile(await openEmbedded({ directory: join(dataDir, 'postgres'), ...deadline }), patience);
  const database = patientWhile(openExternal({ url: databaseUrl, patience, ...deadline }), patience);
  try {
    await awaitFirstAnswer(database);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}
