import { join } from 'node:path';
import type { Database } from './database.ts';
import { openEmbedded } from './embedded/embedded.ts';
import { openExternal } from './external.ts';
import { awaitFirstAnswer } from './first-answer.ts';
import { patientWhile } from './patience.ts';

/** Where the database is, in the configuration's words. */
export interface DatabasePlace {
  readonly databaseUrl: string | undefined;
  readonly dataDir: string;
  /** How long a call may take, in milliseconds; without it as the engine has it. */
  readonly databaseDeadlineMs?: number | undefined;
}

/**
 * The database of the configuration, which has answered: the one at DATABASE_URL, else the embedded one in DATA_DIR.
 * @param isPatient whether its work may take as long as that of a start; a command's always may
 * @throws DirectoryInUse, UnusableDirectory for an embedded one; Unavailable for one that does not answer
 */
export async function openDatabase(
  { databaseUrl, dataDir, databaseDeadlineMs }: DatabasePlace,
  isPatient = (): boolean => true,
): Promise<Database> {
  const deadline = databaseDeadlineMs === undefined ? {} : { deadlineMs: databaseDeadlineMs };
  if (databaseUrl === undefined)
    return patientWhile(await openEmbedded({ directory: join(dataDir, 'postgres'), ...deadline }), isPatient);
  const database = patientWhile(openExternal({ url: databaseUrl, ...deadline }), isPatient);
  try {
    await awaitFirstAnswer(database);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}
