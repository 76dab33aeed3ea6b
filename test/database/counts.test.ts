import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate } from '../../src/database/migrate.ts';
import { createPostgresVoiceHistory } from '../../src/stores/voice-history/postgres.ts';
import { describeEngines, type OpenedEngine } from './support/engines.ts';

const migrations = new URL('../../src/database/migrations/', import.meta.url);
const AT = Date.UTC(2030, 0, 1);

describeEngines('what an older build wrote', (open) => {
  let opened: OpenedEngine;
  let directory: string;

  beforeAll(async () => {
    opened = await open();
    directory = await mkdtemp(join(tmpdir(), 'switchboard-migrations-'));
    const older = (await readdir(migrations)).filter((name) => name < '009');
    for (const name of older) await copyFile(new URL(name, migrations), join(directory, name));
    const { database } = opened;
    await migrate(database, pathToFileURL(`${directory}/`));
    await database.run(
      (sql) => sql`
        insert into voice_session (id, subject, caller, tenant_id, agent_id, key_id, named, provider, upstream_id, started_at_ms,
          last_seen_at_ms, last_activity_at_ms, settled_at_ms, ended_at_ms, end_reason, state, version)
        select 's:ann:' || n, 'ann', caller, 'acme', 'support', 'site', false, 'local', 'up', ${AT}, ${AT}, ${AT}, ${AT},
          case when state = 'ended' then ${AT}::bigint end, case when state = 'ended' then 'closed_by_client' end, state, 1
        from (values (1, 'widget', 'engaged'), (2, 'widget', 'engaged'), (3, 'console', 'stale'), (4, 'widget', 'ended'))
          as given (n, caller, state)`,
    );
    await migrate(database);
  });
  afterAll(async () => {
    await opened.close();
    await rm(directory, { recursive: true, force: true });
  });

  test('is in the counts of live sessions', async () => {
    const history = createPostgresVoiceHistory(opened.database);
    expect(await history.counts(0)).toEqual({
      byState: { engaged: 2, idle: 0, stale: 1, ended: 1 },
      byCaller: { widget: 2, console: 1 },
      byTenant: { acme: 3 },
    });
    expect(await history.recount()).toBe(0);
  });
});
