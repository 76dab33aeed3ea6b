import { afterAll, beforeAll, describe } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { openExternal } from '../../src/database/external.ts';
import { migrate } from '../../src/database/migrate.ts';
import { reasonToSkipPostgres, startPostgres, type PostgresService } from '../support/services/postgres.ts';
import { databaseContracts } from './databases.ts';

const skipped = reasonToSkipPostgres();

describe.skipIf(skipped !== undefined)(`with a PostgreSQL server ${skipped ?? ''}`, () => {
  let service: PostgresService;
  let nodes: readonly [Database, Database];

  beforeAll(async () => {
    service = await startPostgres();
    // Races must queue in the database, not run into the deadline of a busy test machine.
    const open = () => openExternal({ url: service.url, maxConnections: 20, deadlineMs: 20_000 });
    nodes = [open(), open()];
    await migrate(nodes[0]);
  });

  afterAll(async () => {
    await Promise.all(nodes.map((node) => node.close()));
    await service.stop();
  });

  databaseContracts('PostgreSQL', () => nodes);
});
