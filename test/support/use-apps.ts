import { afterAll, afterEach, beforeAll } from 'vitest';
import { seedTenants, TestApp, type TestAppOptions } from './app.ts';
import { TestDatabase } from './test-database.ts';

/** A database for the tests of a file, and builders for services on it: for one test, or for the whole file. */
export function useApps() {
  let opened: TestDatabase | undefined;
  const ofTest: TestApp[] = [];
  const ofFile: TestApp[] = [];
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
    for (const app of ofTest.splice(0)) await app.close();
  });
  afterAll(async () => {
    for (const app of ofFile) await app.close();
    await opened?.close();
  });

  const builder =
    (built: TestApp[]) =>
    async (options: Omit<TestAppOptions, 'database'> = {}): Promise<TestApp> => {
      const app = await TestApp.build({ database: database(), ...options });
      built.push(app);
      return app;
    };
  return { database, build: builder(ofTest), buildForFile: builder(ofFile) };
}
