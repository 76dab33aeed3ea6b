import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newEndpoint } from '../../machines/webhook-endpoint/selectors.ts';
import type { Database } from '../../src/database/database.ts';
import { openExternal } from '../../src/database/external.ts';
import { migrate } from '../../src/database/migrate.ts';
import { createPostgresWebhooks } from '../../src/stores/webhooks/postgres.ts';
import type { EndpointState } from '../../machines/webhook-endpoint/types.ts';
import { DAY_BEGIN } from '../contracts/support.ts';
import { anEndpoint, claimRequest } from '../contracts/webhooks.ts';
import { PATIENT_MS } from '../support/soon.ts';
import { neededDatabase, type FreshDatabase } from '../support/services/fresh-database.ts';
import { reasonToSkipPostgres } from '../support/services/postgres.ts';

const skipped = reasonToSkipPostgres();
const WAITING = 100_000;

describe.skipIf(skipped !== undefined)(`A claim of webhook deliveries ${skipped ?? ''}`, () => {
  let fresh: FreshDatabase;
  let database: Database;

  beforeAll(async () => {
    fresh = await neededDatabase();
    // Only one connection, because each back end counts its own reads.
    database = openExternal({ url: fresh.url, maxConnections: 1, deadlineMs: PATIENT_MS });
    await migrate(database);
  });

  afterAll(async () => {
    await database.close();
    await fresh.drop();
  });

  /** How many index entries of deliveries, and rows without an index, have been read so far. */
  async function readSoFar(): Promise<number> {
    const [, , [read]] = await database.run((sql) =>
      Promise.all([
        sql`select pg_stat_force_next_flush()`,
        sql`select 1`,
        sql<{ read: number }[]>`
          select (sum(idx_tup_read) + max(seq_tup_read))::int8 as read
          from pg_stat_user_indexes join pg_stat_user_tables using (relid)
          where pg_stat_user_tables.relname = 'webhook_delivery'`,
      ]),
    );
    return read?.read ?? 0;
  }

  test.each<[state: EndpointState]>([['failing'], ['disabled']])(
    'skips everything that waits for an endpoint that is %s in one step',
    async (state) => {
      const webhooks = createPostgresWebhooks(database);
      const probeAtMs = state === 'failing' ? DAY_BEGIN * 2 : null;
      const dead = anEndpoint({ ...newEndpoint(`wh_a_${state}`), state, probeAtMs });
      const healthy = anEndpoint(newEndpoint(`wh_b_${state}`));
      for (const one of [dead, healthy]) await webhooks.insert(one, 10);
      await database.run(
        (sql) => sql`
          with told as (
            insert into webhook_event (id, tenant_id, type, at_ms, body)
            select ${dead.id} || n, 'acme', 'session.ended', ${DAY_BEGIN}, '{}' from generate_series(1, ${WAITING}::integer) as n
            returning id
          )
          insert into webhook_delivery (event_id, endpoint_id, type, at_ms, state, attempts, next_at_ms)
          select id, ${dead.id}, 'session.ended', ${DAY_BEGIN}, 'waiting', 0, ${DAY_BEGIN} from told`,
        { deadlineMs: PATIENT_MS },
      );
      await database.run((sql) => sql`analyze webhook_delivery`);
      await webhooks.tell(healthy.id, 'webhook.test', {}, DAY_BEGIN);
      const before = await readSoFar();
      const { claimed } = await webhooks.claim(claimRequest(DAY_BEGIN));
      expect(claimed.map(({ id }) => id)).toEqual([healthy.id]);
      expect((await readSoFar()) - before).toBeLessThan(100);
    },
  );
});
