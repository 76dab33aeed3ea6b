import { setTimeout as pause } from 'node:timers/promises';
import { isTooEarly } from './connection-fault.ts';
import type { Database } from './database.ts';

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
