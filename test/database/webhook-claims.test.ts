import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newEndpoint } from '../../machines/webhook-endpoint/selectors.ts';
import type { AnySql, Database } from '../../src/database/database.ts';
import { openExternal } from '../../src/database/open.ts';
import { migrate } from '../../src/database/migrate.ts';
import { createPostgresBudgets, mergeBudgets } from '../../src/stores/budgets/postgres.ts';
import { createPostgresTenants } from '../../src/stores/tenants/postgres.ts';
import { createPostgresWebhooks } from '../../src/stores/webhooks/postgres.ts';
import type { EndpointState } from '../../machines/webhook-endpoint/types.ts';
import { aBudget } from '../contracts/budgets.ts';
import { DAY_BEGIN } from '../contracts/support.ts';
import { anEndpoint, claimRequest } from '../contracts/webhooks.ts';
import { PATIENT_MS } from '../support/soon.ts';
import { neededDatabase, type FreshDatabase } from '../support/services/fresh-database.ts';
import { reasonToSkipPostgres } from '../support/services/postgres.ts';

/** Whether somebody waits for a lock of the table. */
async function isAwaited(sql: AnySql, table: string): Promise<boolean> {
  const waiting = await sql`select from pg_locks where not granted and relation = ${table}::regclass`;
  return waiting.length > 0;
}

const skipped = reasonToSkipPostgres();
const WAITING = 100_000;

describe.skipIf(skipped !== undefined)(`In PostgreSQL ${skipped ?? ''}`, () => {
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
    'a claim of webhook deliveries skips everything that waits for an endpoint that is %s in one step',
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
      // Once it is back, what it missed is claimed with as few steps.
      await webhooks.save({ ...newEndpoint(dead.id), healthySinceMs: DAY_BEGIN + 1, version: 2 }, 1);
      const atMs = DAY_BEGIN + 1;
      const again = await webhooks.claim(claimRequest(atMs, { eachMissed: 2, missedEveryMs: 120 }));
      expect(again.claimed.map(({ id, deliveries }) => [id, deliveries.length])).toEqual([[dead.id, 2]]);
      expect((await readSoFar()) - before).toBeLessThan(200);
      await webhooks.save({ ...newEndpoint(dead.id), state, probeAtMs, version: 3 }, 2);
    },
  );

  test('a merge of the tenants file waits for a webhook that is being added, and counts it; a budget waits for the merge', async () => {
    const nodes = openExternal({ url: fresh.url, maxConnections: 2, deadlineMs: PATIENT_MS });
    const webhooks = createPostgresWebhooks(nodes);
    for (let n = 0; n < 9; n += 1) await webhooks.insert(anEndpoint({ tenantId: 'acme' }), 10);
    const webhook = { id: 'billing', url: 'https://hooks.acme.example/', types: ['session.settled'], createdAtMs: 0 };
    const file = [{ id: 'acme', name: 'Acme', agents: [], admins: null, keys: [], webhooks: [webhook] }];
    let isOver = false;
    let merged: Promise<string> | undefined;
    await database.transaction(async (sql) => {
      await sql`
        insert into webhook_endpoint (id, tenant_id, url, types, created_at_ms, created_by, state, failures, probes, version)
        values ('wh_tenth', 'acme', 'https://hooks.acme.example/', '{}', 0, 'ops', 'healthy', 0, 0, 1)`;
      const merging = createPostgresTenants(nodes).merge(file);
      merged = merging.then(() => 'merged', String).finally(() => (isOver = true));
      await expect.poll(() => isOver || isAwaited(sql, 'webhook_endpoint'), { timeout: PATIENT_MS }).toBe(true);
    });
    expect(await merged).toContain('too many webhooks of acme');
    expect(await webhooks.list(['acme'])).toHaveLength(10);
    // A budget that is made during a merge waits for it, and counts the file's.
    const day = '2030-01-01';
    const named = Array.from({ length: 50 }, (_, n) => aBudget({ tenantId: 'acme', id: `b${n}` }));
    await createPostgresTenants(nodes).merge([], {
      isPart: true,
      budgets: { budgets: named.slice(1), tenantIds: ['acme'], day },
    });
    let inserted: Promise<unknown> | undefined;
    await database.transaction(async (sql) => {
      await mergeBudgets(sql, { budgets: named, tenantIds: ['acme'], day });
      inserted = createPostgresBudgets(nodes).insert(aBudget({ tenantId: 'acme' }), 50);
      await expect.poll(() => isAwaited(sql, 'budget'), { timeout: PATIENT_MS }).toBe(true);
    });
    expect(await inserted).toBe('too_many');
    await nodes.close();
  });
});
