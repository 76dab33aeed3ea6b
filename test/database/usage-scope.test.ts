import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate } from '../../src/database/migrate.ts';
import { createPostgresLedger } from '../../src/stores/ledger/postgres.ts';
import { describeEngines, type OpenedEngine } from './support/engines.ts';
import { migrateBefore } from './support/older-schema.ts';
import { entryOf } from '../contracts/roll-ups.ts';

const AT = Date.UTC(2030, 0, 1);

describeEngines('the idempotency keys of an older build', (open) => {
  let opened: OpenedEngine;

  beforeAll(async () => {
    opened = await open();
  });
  afterAll(() => opened.close());

  test('belong to the session that their report named, or to the subject where it named none', async () => {
    const { database } = opened;
    await migrateBefore(database, '002');
    await database.run(
      (sql) => sql`
        insert into usage_entry (subject, day, at_ms, tokens, micro_dollars, tenant_id, session_id, idempotency_key,
          tokens_after, micro_dollars_after)
        values ('ann', '2030-01-01', ${AT}, 5, 0, null, 's:ann:1', 'named', 5, 0),
          ('ann', '2030-01-01', ${AT - 1}, 9, 0, null, 's:ann:2', 'named', 9, 0),
          ('ann', '2030-01-01', ${AT}, 6, 0, null, null, 'unnamed', 11, 0)`,
    );
    await database.run(
      (sql) => sql`
        insert into usage_key (subject, idempotency_key, body_hash, at_ms)
        values ('ann', 'named', 'same', ${AT}), ('ann', 'unnamed', 'same', ${AT})`,
    );
    await migrate(database);
    const ledger = createPostgresLedger(database);
    const report = { tokens: 1, microDollars: 0, atMs: AT + 1, tenantId: null };
    const answer = (sessionId: string | null, key: string) =>
      ledger.record(entryOf('ann', { ...report, sessionId, idempotency: { key, bodyHash: 'same' } }));
    expect(await answer('s:ann:1', 'named')).toMatchObject({ kind: 'replayed', totals: { tokens: 5 } });
    expect(await answer('s:ann:2', 'named')).toMatchObject({ kind: 'counted' });
    expect(await answer(null, 'unnamed')).toMatchObject({ kind: 'replayed', totals: { tokens: 11 } });
    expect(await answer(null, 'named')).toMatchObject({ kind: 'counted' });
  });
});
