import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { openExternal } from '../../src/database/open.ts';
import { migrate } from '../../src/database/migrate.ts';
import { Unavailable } from '../../src/kernel/errors.ts';
import { createPostgresFormerTables } from '../../src/stores/journal/former-tables.ts';
import { PATIENT_MS } from '../support/soon.ts';
import { neededDatabase, type FreshDatabase } from '../support/services/fresh-database.ts';
import { reasonToSkipPostgres } from '../support/services/postgres.ts';

const reason = reasonToSkipPostgres();
const ROWS = 2000;

describe.skipIf(reason !== undefined)(`Carriers of former tables ${reason ?? ''}`, () => {
  let fresh: FreshDatabase;
  let killed: Database;
  let killer: Database;

  beforeAll(async () => {
    fresh = await neededDatabase();
    [killed, killer] = [fresh, fresh].map(({ url }) => openExternal({ url, deadlineMs: PATIENT_MS })) as [
      Database,
      Database,
    ];
    await migrate(killer);
  });
  afterAll(async () => {
    await Promise.all([killed.close(), killer.close()]);
    await fresh.drop();
  });

  /** Terminates the connections that wait for a lock. @returns how many */
  async function killWaiting(): Promise<number> {
    const rows = await killer.run(
      (sql) => sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows.length;
  }

  test('that are killed lose nothing and duplicate nothing', async () => {
    await killer.run(
      (sql) => sql`
        insert into actor_event (machine, actor, version, at_ms, kind, event, to_state, steps, guards, detail, node)
        select 1, 'actor', n, n, 'moved', 'CLOCK', 'idle', '[]', '[]', '{}', 'one' from generate_series(1, ${ROWS}::int4) as n`,
    );
    for (let round = 0; round < 3; round += 1) {
      await killer.transaction(async (sql) => {
        // By the time that it waits for the journal it has already deleted its rows.
        await sql`lock table journal in exclusive mode`;
        const fault = createPostgresFormerTables(killed, 100)
          .carrySome(0)
          .catch((error: unknown) => error);
        await expect.poll(killWaiting).toBe(1);
        expect(await fault).toBeInstanceOf(Unavailable);
      });
      await createPostgresFormerTables(killed, 100).carrySome(0);
    }
    while (await createPostgresFormerTables(killer).carrySome(0));
    const [found] = await killer.run(
      (sql) => sql<{ rows: number; versions: number; left: number }[]>`
        select count(*) as rows, count(distinct detail ->> 'version') as versions, (select count(*) from actor_event) as left
        from journal where kind = 'transition'`,
    );
    expect(found).toEqual({ rows: ROWS, versions: ROWS, left: 0 });
  });
});
