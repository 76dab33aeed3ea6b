import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { openEmbedded } from '../../src/database/embedded/embedded.ts';
import { migrate } from '../../src/database/migrate.ts';
import { databaseContracts } from './databases.ts';

let directory: string;
let database: Database;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'switchboard-contracts-'));
  database = await openEmbedded({ directory: join(directory, 'database'), deadlineMs: 60_000 });
  await migrate(database);
});

afterAll(async () => {
  await database.close();
  await rm(directory, { recursive: true });
});

databaseContracts('embedded PostgreSQL', () => [database, database]);
