import { join } from 'node:path';
import { type Database, patientWhile, type Patience } from './database.ts';
import { openEmbedded } from './embedded/embedded.ts';
import { openExternal } from './external.ts';
import { setTimeout as pause } from 'node:timers/promises';
import { isTooEarly } from './faults.ts';

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

/** How long a start waits for a database that is there but does not serve yet, in milliseconds; a stop meanwhile takes at most ten seconds. */
const PATIENCE_MS = 8_000;
const PAUSE_MS = 250;

export interface FirstAnswerOptions {
  readonly now: () => number;
  readonly pause: (ms: number) => Promise<unknown>;
}

/**
 * Resolves when the database has answered. A start has nothing else to do, so it is more patient than a request: it asks again while the server
 * starts, recovers or is too busy to answer in time. What time does not cure (nobody listens, a wrong password) is reported at once.
 *
 * @throws Unavailable with the last cause
 */
export async function awaitFirstAnswer(
  database: Pick<Database, 'ping'>,
  waiting: FirstAnswerOptions = { now: () => performance.now(), pause },
): Promise<void> {
  const untilMs = waiting.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await database.ping();
    } catch (error) {
      if (!isTooEarly(error) || waiting.now() >= untilMs) throw error;
    }
    await waiting.pause(PAUSE_MS);
  }
}
