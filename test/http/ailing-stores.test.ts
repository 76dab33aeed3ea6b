import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { openExternal } from '../../src/database/open.ts';
import { migrate } from '../../src/database/migrate.ts';
import type { Database } from '../../src/database/database.ts';
import { ManualClock } from '../support/clock.ts';
import { seedTenants, service, TestApp } from '../support/app.ts';
import { PATIENT_MS } from '../support/soon.ts';
import { reasonToSkipPostgres, startPostgres, type PostgresService } from '../support/services/postgres.ts';

const missing = reasonToSkipPostgres();

describe.skipIf(missing !== undefined)(`A database that answers reads but refuses writes ${missing ?? ''}`, () => {
  let server: PostgresService;
  let database: Database;
  let app: TestApp;

  const onServer = async (...statements: readonly string[]): Promise<void> => {
    const one = openExternal({ url: server.url, maxConnections: 1, deadlineMs: PATIENT_MS });
    for (const statement of statements) await one.run((sql) => sql.unsafe(statement));
    await one.close();
  };
  /** Changes the setting and waits until all connections have it: the database server applies it in its own time. */
  const beReadOnly = async (isReadOnly: boolean): Promise<void> => {
    const value = isReadOnly ? 'on' : 'off';
    await onServer(`alter system set default_transaction_read_only = ${value}`, 'select pg_reload_conf()');
    const read = (): Promise<string | undefined> =>
      database.run(
        async (sql) =>
          (await sql<{ value: string }[]>`select current_setting('default_transaction_read_only') as value`)[0]?.value,
      );
    await vi.waitFor(async () => {
      const all = await Promise.all([read(), read(), read()]);
      expect(all).toEqual([value, value, value]);
    });
  };
  const standing = async () => {
    const ready = await app.get('/readyz');
    app.clock.advance(2000);
    const { status, body } = await app.get('/api/operator/overview', service);
    const { us } = body['verdict'] as { us: string };
    return { ready: ready.status, overview: status, us };
  };

  beforeAll(async () => {
    server = await startPostgres();
    database = openExternal({ url: server.url, maxConnections: 3, deadlineMs: PATIENT_MS });
    await migrate(database);
    app = await TestApp.build({ database, clock: new ManualClock(), env: { WIDGET_SESSIONS_PER_MINUTE: '1000' } });
    await seedTenants(app);
    await app.service.presence.beat();
  });
  afterEach(() => void vi.useRealTimers());
  afterAll(async () => {
    await app.close();
    await database.close();
    await server.stop();
  });

  test('makes the service not ready at the first create that fails, and ready again by itself', async () => {
    const key = await app.key();
    expect(await standing()).toEqual({ ready: 200, overview: 200, us: 'fine' });
    vi.useFakeTimers({ toFake: ['performance'] });
    await beReadOnly(true);
    expect((await app.create(key)).status).toBe(503);
    expect(await standing()).toEqual({ ready: 503, overview: 200, us: 'degraded' });
    await beReadOnly(false);
    vi.advanceTimersByTime(8000);
    expect(await standing()).toEqual({ ready: 200, overview: 200, us: 'fine' });
    expect((await app.create(key)).status).toBe(200);
  });

  test('makes the service not ready by the probe alone, and ready at the first probe that succeeds', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    await beReadOnly(true);
    await app.service.presence.beat();
    expect(await standing()).toEqual({ ready: 503, overview: 200, us: 'degraded' });
    vi.advanceTimersByTime(8000);
    expect(await standing()).toEqual({ ready: 503, overview: 200, us: 'degraded' });
    await beReadOnly(false);
    await app.service.presence.beat();
    expect(await standing()).toEqual({ ready: 200, overview: 200, us: 'fine' });
  });
});
