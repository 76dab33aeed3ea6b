import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { migrate, requireMigrated } from '../../src/database/migrate.ts';
import { describeEngines, type OpenedEngine } from './support/engines.ts';
import { migrateBefore } from './support/older-schema.ts';

const fixture = (name: string): URL => new URL(`./fixtures/${name}/`, import.meta.url);

describeEngines('migrations', (open) => {
  let opened: OpenedEngine;

  beforeAll(async () => {
    opened = await open();
  });
  afterAll(() => opened.close());
  beforeEach(async () => {
    await opened.database.run((sql) => sql.unsafe('drop schema public cascade; create schema public'));
  });

  test('are applied once, in order', async () => {
    const { database } = opened;
    expect(await migrate(database, fixture('first'))).toEqual(['001_people.sql']);
    expect(await migrate(database, fixture('grown'))).toEqual(['002_city.sql']);
    expect(await migrate(database, fixture('grown'))).toEqual([]);
    expect(await database.run((sql) => sql`select * from person`)).toEqual([
      { id: 1, name: "Zoë; 'quoted'", city: null },
    ]);
  });

  test('are applied once when twenty nodes start at the same time', async () => {
    const { database } = opened;
    const runs = await Promise.all(Array.from({ length: 20 }, () => migrate(database, fixture('grown'))));
    expect(runs.flat()).toEqual(['001_people.sql', '002_city.sql']);
  });

  test('leave nothing behind when one of them fails', async () => {
    const { database } = opened;
    await expect(migrate(database, fixture('broken'))).rejects.toMatchObject({ code: '42P07' });
    expect(await migrate(database, fixture('first'))).toEqual(['001_people.sql']);
  });

  test('are requested, where nothing may be changed, for a new database and for one of an older build', async () => {
    const { database } = opened;
    await expect(requireMigrated(database, fixture('grown'))).rejects.toThrow(
      'the database has not been migrated to this build yet (2 migrations are missing)',
    );
    await migrate(database, fixture('first'));
    await expect(requireMigrated(database, fixture('grown'))).rejects.toThrow('(1 migration is missing)');
    await migrate(database, fixture('grown'));
    await requireMigrated(database, fixture('grown'));
  });

  test('refuse a file that was changed after it was applied, and a database that is newer than the build', async () => {
    const { database } = opened;
    await migrate(database, fixture('grown'));
    await expect(migrate(database, fixture('changed'))).rejects.toThrow(
      '001_people.sql was changed after it was applied',
    );
    await expect(migrate(database, fixture('first'))).rejects.toThrow('002_city.sql, which this build does not know');
  });

  test('of the service leave no full session id in the audit, where it would be its caller’s proof', async () => {
    const { database } = opened;
    await migrateBefore(database, '006');
    const ref = `s:${'0123456789abcdef'.repeat(2)}:abc-_1Z`;
    const targets = [
      `${ref}defghijklmnopqr`,
      ref,
      'acme/s:site',
      's:acme/of-a-key-whose-tenant-has-a-very-long-name-indeed',
    ];
    for (const target of targets)
      await database.run(
        (sql) => sql`insert into audit (at_ms, actor, action, target) values (1, 'cli', 'session.end', ${target})`,
      );
    await migrate(database);
    const kept = await database.run((sql) => sql<{ target: string }[]>`select target from audit order by ordinal`);
    expect(kept.map(({ target }) => target)).toEqual([ref, ref, ...targets.slice(2)]);
  });

  test('of the service add to existing audit entries whose changes they were', async () => {
    const { database } = opened;
    await migrateBefore(database, '011');
    const id = `s:${'0123456789abcdef'.repeat(2)}:abc-_1Zdefghijklmnopqr`;
    // In the form of that service: today's code uses columns that came later.
    await database.run(
      (sql) => sql`
        insert into voice_session (id, subject, caller, tenant_id, named, provider, upstream_id, started_at_ms, last_seen_at_ms,
          last_activity_at_ms, settled_at_ms, state, version)
        values (${id}, ${id.slice(2, 34)}, 'widget', 'globex', false, 'local', 'up_1', 1, 1, 1, 1, 'engaged', 1)`,
    );
    for (const [action, target] of [
      ['session.end', id.slice(0, 42)],
      ['session.end', `s:${'0'.repeat(32)}:forgott`],
      ['key.issue', 'acme/site'],
    ] as const)
      await database.run(
        (sql) => sql`insert into audit (at_ms, actor, action, target) values (1, 'cli', ${action}, ${target})`,
      );
    await migrate(database);
    const rows = await database.run(
      (sql) => sql<object[]>`select tenant_id as "of", result from audit order by ordinal`,
    );
    expect([...rows]).toEqual([
      { of: 'globex', result: null },
      { of: null, result: null },
      { of: 'acme', result: null },
    ]);
  });

  test('of the service can be applied', async () => {
    const names = await migrate(opened.database);
    expect(names[0]).toMatch(/^001_/);
    expect(await migrate(opened.database)).toEqual([]);
  });
});
