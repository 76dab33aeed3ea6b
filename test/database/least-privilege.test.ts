import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { openExternal } from '../../src/database/open.ts';
import { migrate } from '../../src/database/migrate.ts';
import { PATIENT_MS } from '../support/soon.ts';
import { reasonToSkipPostgres, startPostgres, type PostgresService } from '../support/services/postgres.ts';

const skipped = reasonToSkipPostgres();
const fixture = (name: string): URL => new URL(`./fixtures/${name}/`, import.meta.url);

describe.skipIf(skipped !== undefined)(`a role that may change rows and not the schema ${skipped ?? ''}`, () => {
  let server: PostgresService;
  let owner: Database;
  let service: Database;

  beforeAll(async () => {
    server = await startPostgres();
    owner = openExternal({ url: server.url, deadlineMs: PATIENT_MS });
    service = openExternal({ url: server.url.replace('postgres@', 'service@'), deadlineMs: PATIENT_MS });
    // As docs/operations.md tells operators to do.
    await owner.run((sql) =>
      sql.unsafe(`create role service login;
        revoke create on schema public from public;
        alter default privileges in schema public grant select, insert, update, delete on tables to service`),
    );
  });
  afterAll(async () => {
    await Promise.all([owner.close(), service.close()]);
    await server.stop();
  });

  test('is told to migrate with another role as long as a migration is missing', async () => {
    const refusal = expect.objectContaining({
      name: 'MigrationError',
      message: expect.stringContaining('npm start -- migrate') as string,
    });
    await expect(migrate(service, fixture('first'))).rejects.toEqual(refusal);
    await migrate(owner, fixture('first'));
    await expect(migrate(service, fixture('grown'))).rejects.toEqual(refusal);
  });

  test('starts when another role has migrated', async () => {
    await migrate(owner, fixture('grown'));
    expect(await migrate(service, fixture('grown'))).toEqual([]);
  });

  test('is still told that a migration was changed', async () => {
    await expect(migrate(service, fixture('changed'))).rejects.toThrow('001_people.sql was changed');
  });
});
