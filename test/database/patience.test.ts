import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, type Sql, type TransactionSql, patientWhile } from '../../src/database/database.ts';
import { migrate } from '../../src/database/migrate.ts';
import { Unavailable } from '../../src/kernel/errors.ts';
import { createPostgresInstallation } from '../../src/stores/installation/postgres.ts';
import { createPostgresRetention } from '../../src/stores/retention/postgres.ts';
import { createPostgresTenants } from '../../src/stores/tenants/postgres.ts';
import type { Tenant } from '../../src/stores/tenants/contract.ts';
import { createPostgresVoiceHistory } from '../../src/stores/voice-history/postgres.ts';
import { TenantDirectory } from '../../src/tenants/directory.ts';
import { aKey, FakeBus, noBudgets } from '../features/tenants/fakes.ts';
import { describeEngines, type OpenedEngine } from './support/engines.ts';

/** No request waits this long. */
const START_MS = 60_000;
const KEYS = 20_000;

const tenants: Tenant[] = Array.from({ length: 20 }, (_, tenant) => {
  const tenantId = `tenant${String(tenant).padStart(2, '0')}`;
  const keys = Array.from({ length: KEYS / 20 }, (__, n) => {
    const id = `key${String(n).padStart(4, '0')}`;
    return aKey(tenantId, id, { label: id, allowOverrides: false });
  });
  return { id: tenantId, name: tenantId, agents: [], admins: null, keys };
});

describeEngines('A database that is too slow for requests', (open) => {
  let opened: OpenedEngine;
  let slow: Database;
  /** The number of keys in each statement that wrote keys. */
  let written: number[];

  beforeAll(async () => {
    opened = await open();
    const { database } = opened;
    const admit = (deadlineMs = 0): void => {
      if (deadlineMs < START_MS) throw new Unavailable('database', new Error('too slow for a request'));
    };
    slow = {
      kind: database.kind,
      health: database.health,
      async run(work, options) {
        admit(options?.deadlineMs);
        return database.run((sql) => work(told(sql)), options);
      },
      async transaction(work, options) {
        admit(options?.deadlineMs);
        return database.transaction((sql) => work(told(sql)), options);
      },
      ping: () => Promise.reject(new Unavailable('database')),
      close: () => database.close(),
    };
    written = [];
  });
  afterAll(() => opened.close());

  function told<S extends Sql | TransactionSql>(sql: S): S {
    return new Proxy(sql, {
      apply(target, self, [strings, ...values]: [readonly string[], ...unknown[]]) {
        const isWrite = Array.isArray(strings) && strings.join('').includes('insert into widget_key');
        if (isWrite) written.push((JSON.parse(String(values[0])) as unknown[]).length);
        return Reflect.apply<unknown, unknown[], unknown>(target as (...values: unknown[]) => unknown, self, [
          strings,
          ...values,
        ]);
      },
    });
  }

  /** The versions of the keys' rows. */
  async function versions(): Promise<string> {
    const [row] = await opened.database.run(
      (sql) => sql<{ versions: string }[]>`
        select md5(string_agg(key || ctid::text || xmin::text, ',' order by key)) as versions from widget_key`,
    );
    return row?.versions ?? '';
  }

  test('is migrated and returns the secrets of its installation', async () => {
    await migrate(slow);
    await migrate(slow);
    expect(await createPostgresInstallation(slow).secret('subjects')).toHaveLength(32);
  });

  test('takes a tenants file of 20,000 keys in small statements, and returns it at a start', async () => {
    const store = createPostgresTenants(slow);
    await store.merge(tenants);
    expect(written.reduce((sum, keys) => sum + keys, 0)).toBe(KEYS);
    expect(Math.max(...written)).toBe(1000);
    const directory = new TenantDirectory({
      tenants: createPostgresTenants(patientWhile(slow, { isPatient: true })),
      budgets: noBudgets,
      bus: new FakeBus(),
      onRevoked: () => undefined,
      onStopped: () => undefined,
      onBudgets: () => undefined,
      onError: () => undefined,
    });
    await directory.start();
    await directory.stop();
    expect(directory.all()).toEqual(tenants);
  });

  test('writes only the one key of such a file that has changed', async () => {
    const store = createPostgresTenants(slow);
    const before = await versions();
    await store.merge(tenants);
    expect(await versions()).toBe(before);
    const [first, ...others] = tenants as [Tenant, ...Tenant[]];
    const keys = first.keys.with(7, { ...first.keys[7], label: 'Renamed' } as Tenant['keys'][number]);
    await store.merge([{ ...first, keys }, ...others]);
    expect(await versions()).not.toBe(before);
    const all = await createPostgresTenants(patientWhile(slow, { isPatient: true })).all();
    expect(all.flatMap((tenant) => tenant.keys.filter(({ label }) => label === 'Renamed'))).toHaveLength(1);
    await expect(store.all()).rejects.toThrow(Unavailable);
  });

  test('is waited for until the start is over, and then no longer than a request may wait', async () => {
    const patience = { isPatient: true };
    const store = createPostgresTenants(patientWhile(slow, patience));
    expect(await store.all()).toHaveLength(20);
    patience.isPatient = false;
    await expect(store.all()).rejects.toThrow(Unavailable);
  });

  test('is tidied: expired rows are deleted, and counts are corrected', async () => {
    expect(await createPostgresRetention(slow).deleteSome('sessions', 1)).toBe(0);
    expect(await createPostgresVoiceHistory(slow).recount()).toBe(0);
  });
});
