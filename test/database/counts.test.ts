import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate } from '../../src/database/migrate.ts';
import { createPostgresVoiceHistory } from '../../src/stores/voice-history/postgres.ts';
import { describeEngines, type OpenedEngine } from './support/engines.ts';
import { migrateBefore } from './support/older-schema.ts';

const AT = Date.UTC(2030, 0, 1);

describeEngines('what an older build wrote', (open) => {
  let opened: OpenedEngine;

  beforeAll(async () => {
    opened = await open();
    const { database } = opened;
    await migrateBefore(database, '009');
    await database.run(
      (sql) => sql`
        insert into voice_session (id, subject, caller, tenant_id, agent_id, key_id, named, provider, upstream_id, started_at_ms,
          last_seen_at_ms, last_activity_at_ms, settled_at_ms, ended_at_ms, end_reason, state, version)
        select 's:ann:' || n, 'ann', caller, 'acme', 'support', 'site', false, 'local', 'up', ${AT}, ${AT}, ${AT}, ${AT},
          case when state = 'ended' then ${AT}::bigint end, case when state = 'ended' then 'closed_by_client' end, state, 1
        from (values (1, 'widget', 'engaged'), (2, 'widget', 'engaged'), (3, 'console', 'stale'), (4, 'widget', 'ended'))
          as given (n, caller, state)`,
    );
    await database.run(
      (sql) => sql`
        insert into usage_entry (subject, day, at_ms, tokens, micro_dollars, tenant_id, session_id, tokens_after, micro_dollars_after)
        values ('ann', '2030-01-01', ${AT}, 5, 1, 'acme', 's:ann:4', 5, 1),
          ('ann', '2030-01-01', ${AT + 3_600_000}, 7, 2, 'acme', 's:ann:4', 12, 3),
          ('ann', '2030-01-01', ${AT}, 1, 0, null, null, 13, 3)`,
    );
    // The oldest day's entries have already been deleted; only its total is left.
    await database.run(
      (sql) => sql`
        insert into usage_total (subject, day, tokens, micro_dollars)
        values ('ann', '2030-01-01', 13, 3), ('key:acme:site', '2030-01-01', 12, 3), ('bea', '2029-12-31', 40, 4)`,
    );
    await migrate(database);
  });
  afterAll(() => opened.close());

  test('is in the counts of live sessions', async () => {
    const history = createPostgresVoiceHistory(opened.database);
    expect(await history.counts(0)).toEqual({
      byState: { engaged: 2, idle: 0, stale: 1, ended: 1 },
      byCaller: { widget: 2, console: 1 },
      byTenant: { acme: 3 },
    });
    expect(await history.recount()).toBe(0);
  });

  test('is in the sums of hours and days, as far as its owner is known', async () => {
    const rows = (table: string, of: string) =>
      opened.database.run((sql) =>
        sql.unsafe<object[]>(
          `select ${of} as of, tenant_id || '/' || key_id || '/' || agent_id as whose, tokens, micro_dollars from ${table}
          order by 1, 2`,
        ),
      );
    expect([...(await rows('usage_day', `day || ' ' || subject`))]).toEqual([
      { of: '2029-12-31 bea', whose: '//', tokens: 40, microDollars: 4 },
      { of: '2030-01-01 ann', whose: '//', tokens: 1, microDollars: 0 },
      { of: '2030-01-01 ann', whose: 'acme/site/support', tokens: 12, microDollars: 3 },
    ]);
    expect([...(await rows('usage_hour', 'hour_ms'))]).toEqual([
      { of: AT, whose: '//', tokens: 1, microDollars: 0 },
      { of: AT, whose: 'acme/site/support', tokens: 5, microDollars: 1 },
      { of: AT + 3_600_000, whose: 'acme/site/support', tokens: 7, microDollars: 2 },
    ]);
  });
});
