import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { openExternal } from '../../src/database/open.ts';
import { migrateBefore } from '../database/support/older-schema.ts';
import { bash, commandsOf } from '../support/manual.ts';
import { neededDatabase, type FreshDatabase } from '../support/services/fresh-database.ts';
import { reasonToSkipPostgres } from '../support/services/postgres.ts';
import { runToEnd, Switchboard } from '../support/switchboard.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const [migrateFirst = '', isReady = ''] = commandsOf('docs/upgrade.md');
const TOKEN = 'a-token-of-a-back-end-of-ours';
const skipped = reasonToSkipPostgres();

let fresh: FreshDatabase | undefined;
let server: Switchboard | undefined;

afterEach(async () => {
  await server?.end('SIGKILL');
  await fresh?.drop();
});

describe.skipIf(skipped !== undefined)(`An upgrade ${skipped ?? ''}`, () => {
  test('of an earlier build’s database works as docs/upgrade.md says, and that build refuses to serve it afterwards', async () => {
    fresh = await neededDatabase();
    const database = openExternal({ url: fresh.url, maxConnections: 1, deadlineMs: 60_000 });
    const env = { DATABASE_URL: fresh.url, SERVICE_TOKENS: TOKEN };
    try {
      await migrateBefore(database, '040');
      const early = await runToEnd([], { ...env, MIGRATE: 'never' });
      expect([early.code, early.stderr]).toEqual([69, expect.stringContaining('"npm start -- migrate" does that')]);
      expect(await bash(migrateFirst, root, env)).toMatch(/Applied[^]*045_ratings\.sql/);
      server = await Switchboard.start({ ...env, MIGRATE: 'never' });
      const told = await bash(isReady, root, { BASE: server.origin, TOKEN });
      expect(told).toMatch(/^\{"ready":true,[^]*\}switchboard_build_info\{/);
      // A build does not know the migrations of later builds.
      await database.run(
        (sql) => sql`insert into schema_migration (id, name, sha256) values (999, '999_later.sql', '')`,
      );
    } finally {
      await database.close();
    }
    const { code, stderr } = await runToEnd([], env);
    expect(code).toBe(69);
    expect(stderr).toContain('999_later.sql');
    expect(server.isRunning).toBe(true);
  });
});
