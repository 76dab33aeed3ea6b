import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AnySql, Database } from '../../src/database/database.ts';
import { openExternal } from '../../src/database/open.ts';
import { migrate } from '../../src/database/migrate.ts';
import { sql } from '../../src/database/statements.ts';
import type { CallFilter } from '../../src/stores/voice-calls/contract.ts';
import { scanCalls } from '../../src/stores/voice-calls/postgres.ts';
import { entriesAfter } from '../../src/stores/usage-reports/postgres.ts';
import type { HistoryFilter } from '../../src/stores/voice-history/contract.ts';
import { createPostgresVoiceHistory } from '../../src/stores/voice-history/postgres.ts';
import { scanEach } from '../../src/stores/voice-history/postgres-pages.ts';
import { runScan, MAX_SCANNED } from '../../src/stores/scanned-page.ts';
import { DAY_BEGIN } from '../contracts/support.ts';
import { PATIENT_MS } from '../support/soon.ts';
import { neededDatabase, type FreshDatabase } from '../support/services/fresh-database.ts';
import { reasonToSkipPostgres } from '../support/services/postgres.ts';

const reason = reasonToSkipPostgres();
/** Enough rows for the planner to consider where they lie. */
const SESSIONS = 20_000;
const CALLS = 20_000;
const ENTRIES = 20_000;

/** Matches a plan that uses this index. */
const using = (index: string): unknown => expect.stringContaining(`using ${index} on`);

const textOf = (plan: readonly object[]): string => plan.map((row) => String(Object.values(row)[0])).join('\n');

/** A PostgreSQL database for the tests of a suite, in which one table has many rows. */
function useLarge(
  table: 'voice_session' | 'voice_call' | 'usage_entry',
  fill: (sql: AnySql) => Promise<unknown>,
): () => Database {
  let fresh: FreshDatabase;
  let database: Database;

  beforeAll(async () => {
    fresh = await neededDatabase();
    // A patient deadline, since a busy machine must not look like an outage.
    database = openExternal({ url: fresh.url, deadlineMs: PATIENT_MS });
    await migrate(database);
    await database.run((sql) => fill(sql));
    await database.run((sql) => sql`analyze ${sql(table)}`);
  });

  afterAll(async () => {
    await database.close();
    await fresh.drop();
  });

  return () => database;
}

describe.skipIf(reason !== undefined)(`A list of sessions${reason === undefined ? '' : ` (${reason})`}`, () => {
  // The newest quarter is live and belongs to one tenant; the rest has ended and belongs to two others, and to one visitor.
  const database = useLarge(
    'voice_session',
    (sql) => sql`
        insert into voice_session (id, subject, caller, tenant_id, agent_id, key_id, named, provider, upstream_id, heard, started_at_ms,
          last_seen_at_ms, last_activity_at_ms, settled_at_ms, ended_at_ms, end_reason, state, version)
        select 's:' || subject || ':' || md5(n::text), subject, 'widget', case when live then 'busy' else 'quiet' || n % 2 end, 'guide', 'key' || n % 2,
          false, 'local', 'many_' || n, false, at, at, at, at, case when not live then at end,
          case when not live then (array['abandoned', 'idle_timeout', 'error'])[1 + n % 3] end,
          case when live then 'engaged' else 'ended' end, 1
        from (
          select *, case when live then md5(n::text) else 'regular' end as subject
          from (select n, ${DAY_BEGIN}::int8 + n as at, n > ${SESSIONS * 0.75}::int4 as live from generate_series(1, ${SESSIONS}::int4) as n) as made
        ) as made`,
  );

  test('has the newest of a visitor, however many more there are', async () => {
    const newest = await createPostgresVoiceHistory(database()).newestOf(['regular', 'nobody'], 5);
    const last = SESSIONS * 0.75;
    expect(newest.map(({ record }) => record.startedAtMs - DAY_BEGIN)).toEqual([0, 1, 2, 3, 4].map((n) => last - n));
  });

  test.each<[string, HistoryFilter]>([
    ['voice_session_newest_of_reason', { reasons: ['abandoned'] }],
    ['voice_session_newest_of_tenant', { tenantId: 'quiet1' }],
    ['voice_session_newest_of_key', { tenantId: 'quiet1', keyId: 'key1' }],
    ['voice_session_newest', {}],
  ])('is read along %s where that is asked for, however many others are newer', async (index, filter) => {
    const plan = await runScan(
      database(),
      sql`explain ${scanEach([filter], '-startedAt', undefined, 51, MAX_SCANNED)}`,
    );
    expect(textOf(plan)).toEqual(using(index));
  });
});

describe.skipIf(reason !== undefined)(`A list of calls${reason === undefined ? '' : ` (${reason})`}`, () => {
  // The newest quarter is open and belongs to one tenant; the rest is closed, belongs to two others, and was seldom left unconfirmed.
  const database = useLarge(
    'voice_call',
    (sql) => sql`
        insert into voice_call (id, session_id, subject, tenant_id, key_id, provider, model, state, created_at_ms, closed_at_ms, hangup,
          hangup_tries, owner_node, fence, version)
        select 'call_' || n, 's:' || md5(n::text), md5(n::text), case when live then 'busy' else 'quiet' || n % 2 end, 'key' || n % 2,
          'local', 'model', case when live then 'open' else 'closed' end, at, case when not live then at end,
          case when live then 'none' when n % 100 = 0 then 'unconfirmed' else 'confirmed' end, 0, 'node', 1, 1
        from (select n, ${DAY_BEGIN}::int8 + n as at, n > ${CALLS * 0.75}::int4 as live from generate_series(1, ${CALLS}::int4) as n) as made`,
  );

  test.each<[string, CallFilter]>([
    ['voice_call_newest_unconfirmed', { hangups: ['unconfirmed'] }],
    ['voice_call_newest_unfinished', { states: ['open', 'closing'] }],
    ['voice_call_newest_of_tenant', { tenantId: 'quiet1' }],
    ['voice_call_newest_of_key', { tenantId: 'quiet1', keyId: 'key1' }],
    ['voice_call_newest', {}],
  ])('is read along %s where that is asked for, however many others are newer', async (index, filter) => {
    const plan = await runScan(database(), sql`explain ${scanCalls([filter], undefined, 51, MAX_SCANNED)}`);
    expect(textOf(plan)).toEqual(using(index));
  });
});

describe.skipIf(reason !== undefined)(`What a tenant used${reason === undefined ? '' : ` (${reason})`}`, () => {
  // Most usage is another tenant's.
  const database = useLarge(
    'usage_entry',
    (sql) => sql`
        insert into usage_entry (subject, day, at_ms, tokens, micro_dollars, tenant_id, tokens_after, micro_dollars_after)
        select md5(n::text), '2030-01-01', ${DAY_BEGIN}::int8 + n, 1, 1, case when n % 4 = 0 then 'quiet' else 'busy' end, 1, 1
        from generate_series(1, ${ENTRIES}::int4) as n`,
  );

  test('is read along an index of its own entries, without those of others', async () => {
    const from = { atMs: DAY_BEGIN, ordinal: -1 };
    const plan = await runScan(database(), sql`explain ${entriesAfter('quiet', from, DAY_BEGIN + ENTRIES, 100)}`);
    expect(textOf(plan)).toEqual(using('usage_entry_of_tenant'));
  });
});
