import { afterAll, afterEach, beforeAll } from 'vitest';
import { seedTenants, TestApp, type TestAppOptions } from './app.ts';
import { TestDatabase } from './test-database.ts';

/** A database for a file's tests, and the way to build services on it, which are closed after each test. */
export function useApps() {
  let opened: TestDatabase | undefined;
  const apps: TestApp[] = [];
  const database = (): TestDatabase => {
    if (opened === undefined) throw new Error('the database is there in tests only');
    return opened;
  };

  beforeAll(async () => {
    opened = await TestDatabase.open();
    const app = await TestApp.build({ database: opened });
    await seedTenants(app);
    await app.close();
  });
  afterEach(async () => {
    database().isAway = false;
    for (const app of apps.splice(0)) await app.close();
  });
  afterAll(() => opened?.close());

  const build = async (options: Omit<TestAppOptions, 'database'> = {}): Promise<TestApp> => {
    const app = await TestApp.build({ database: database(), ...options });
    apps.push(app);
    return app;
  };
  return { database, build };
}
