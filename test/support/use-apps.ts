import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
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
    const first = await TestApp.build({ database: opened });
    await seedTenants(first);
    await first.close();
  });
  afterEach(async () => {
    database().isAway = false;
    for (const each of ofTest.splice(0)) await each.close();
  });
  afterAll(async () => {
    for (const each of ofFile) await each.close();
    await opened?.close();
  });

  const builder =
    (built: TestApp[]) =>
    async (options: Omit<TestAppOptions, 'database'> = {}): Promise<TestApp> => {
      const made = await TestApp.build({ database: database(), ...options });
      built.push(made);
      return made;
    };
  return { database, build: builder(ofTest), buildForFile: builder(ofFile) };
}

/** The service of the present test: see `useApp`. */
export let app: TestApp;

/** Like `useApps`, and gives each test of the file a service of its own, `app`. */
export function useApp(options: Omit<TestAppOptions, 'database'> = {}) {
  const apps = useApps();
  beforeEach(async () => {
    app = await apps.build(options);
  });
  return apps;
}
