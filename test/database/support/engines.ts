import { join } from 'node:path';
import { describe } from 'vitest';
import type { Database } from '../../../src/database/database.ts';
import { openEmbedded } from '../../../src/database/embedded/embedded.ts';
import { openExternal } from '../../../src/database/open.ts';
import { PATIENT_MS } from '../../support/soon.ts';
import { reasonToSkipPostgres, startPostgres } from '../../support/services/postgres.ts';
import { makeDirectory } from './places.ts';

export interface OpenedEngine {
  readonly database: Database;
  /** Closes the database and removes everything it stored. */
  readonly close: () => Promise<void>;
}

export type OpenEngine = () => Promise<OpenedEngine>;

async function openEmbeddedEngine(): Promise<OpenedEngine> {
  const { path, remove } = makeDirectory();
  const database = await openEmbedded({ directory: join(path, 'database'), deadlineMs: PATIENT_MS });
  // A fresh directory already has this build's schema; the suites of an engine start without one.
  await database.run((sql) => sql.unsafe('drop schema public cascade; create schema public'));
  return {
    database,
    async close() {
      await database.close();
      remove();
    },
  };
}

async function openExternalEngine(): Promise<OpenedEngine> {
  const server = await startPostgres();
  const database = openExternal({ url: server.url, maxConnections: 5, deadlineMs: PATIENT_MS });
  return {
    database,
    async close() {
      await database.close();
      await server.stop();
    },
  };
}

/** Runs a suite for every engine; one that this machine cannot run is shown as skipped, with the reason. */
export function describeEngines(subject: string, suite: (open: OpenEngine) => void): void {
  const missing = reasonToSkipPostgres();
  describe(`${subject}, embedded`, () => {
    suite(openEmbeddedEngine);
  });
  describe.skipIf(missing !== undefined)(
    `${subject}, PostgreSQL${missing === undefined ? '' : ` (${missing})`}`,
    () => {
      suite(openExternalEngine);
    },
  );
}
