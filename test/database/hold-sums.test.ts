import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate } from '../../src/database/migrate.ts';
import { createPostgresHolds } from '../../src/stores/holds/postgres.ts';
import { describeEngines, type OpenedEngine } from './support/engines.ts';
import { migrateBefore } from './support/older-schema.ts';

const AT = Date.UTC(2030, 0, 1);
const DAY = '2030-01-01';
const KEY = 'key:acme:site';

describeEngines('what sessions of an older build hold', (open) => {
  let opened: OpenedEngine;

  beforeAll(async () => {
    opened = await open();
    const { database } = opened;
    await migrateBefore(database, '019');
    await database.run(
      (sql) => sql`
        insert into voice_session (id, subject, caller, tenant_id, agent_id, key_id, named, provider, upstream_id, started_at_ms,
          last_seen_at_ms, last_activity_at_ms, settled_at_ms, ended_at_ms, end_reason, state, version)
        select 's:' || who || ':1', who, 'widget', 'acme', 'support', 'site', false, 'local', 'up', ${AT}, ${AT}, ${AT}, ${AT},
          case when state = 'ended' then ${AT}::bigint end, case when state = 'ended' then 'closed_by_client' end, state, 1
        from (values ('talks', 'engaged'), ('talked', 'ended'), ('rests', 'idle'), ('silent', 'engaged'), ('spends', 'engaged'))
          as given (who, state)`,
    );
    await database.run(
      (sql) => sql`
        insert into voice_call (id, session_id, subject, tenant_id, key_id, provider, model, state, created_at_ms, hangup,
          hangup_tries, owner_node, fence, version)
        select 'call_' || who || n, 's:' || who || ':1', who, 'acme', 'site', 'local', 'echo', 'open', ${AT}, 'none', 0, 'node', 1, 1
        from (values ('talks', 1), ('talks', 2), ('talked', 1), ('rests', 1), ('spends', 1)) as given (who, n)`,
    );
    await database.run(
      (sql) => sql`
        insert into call_meter (call_id, basis, micro_dollars, since_ms)
        values ('call_talks1', 'events', 120, ${AT}), ('call_talks2', 'events', 80, ${AT}), ('call_spends1', 'events', 900, ${AT})`,
    );
    await database.run(
      (sql) => sql`
        insert into usage_hold (session_id, account, tokens, micro_dollars, until_ms)
        select 's:' || who || ':1', account, 0, 500, ${AT + 1000}
        from unnest(array['talks', 'talked', 'rests', 'silent', 'spends']) as who, unnest(array[who, ${KEY}]) as account`,
    );
    await migrate(database);
  });
  afterAll(() => opened.close());

  test('is what is left of it, for sessions that talk', async () => {
    const holds = createPostgresHolds(opened.database);
    const held = async (account: string) =>
      (await holds.standing(account, DAY, 'nobody', AT)).heldByOthers.microDollars;
    expect(await held('talks')).toBe(300);
    for (const who of ['talked', 'rests', 'silent', 'spends']) expect(await held(who), who).toBe(0);
    expect(await held(KEY)).toBe(300);
    expect(await holds.recount()).toBe(0);
  });
});
