import { afterAll, beforeAll, describe } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { openExternal } from '../../src/database/open.ts';
import { migrate } from '../../src/database/migrate.ts';
import { neededDatabase, type FreshDatabase } from '../support/services/fresh-database.ts';
import { reasonToSkipPostgres } from '../support/services/postgres.ts';
import { databaseContracts } from './databases.ts';

const skipped = reasonToSkipPostgres();

describe.skipIf(skipped !== undefined)(`with a PostgreSQL server ${skipped ?? ''}`, () => {
  let service: FreshDatabase;
  let nodes: readonly [Database, Database];

  beforeAll(async () => {
    service = await neededDatabase();
    // Races must queue in the database and not hit the deadline on a busy test machine.
    const open = () => openExternal({ url: service.url, maxConnections: 20, deadlineMs: 20_000 });
    nodes = [open(), open()];
    await migrate(nodes[0]);
  });

  afterAll(async () => {
    await Promise.all(nodes.map((node) => node.close()));
    await service.drop();
  });

  databaseContracts('PostgreSQL', () => nodes);
});
