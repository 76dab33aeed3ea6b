import { afterAll, afterEach, beforeAll } from 'vitest';
import { seedTenants, TestApp, type Reply, type TestAppOptions } from '../support/app.ts';
import { TestDatabase } from '../support/test-database.ts';

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

/** The headers with which a client opens the heartbeat channel. */
export const upgrade = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'sec-websocket-protocol': 'switchboard.v1',
};

/** What every error of the service has, and nothing that it must not have. */
export function errorOf(reply: Reply): { readonly status: number; readonly code: unknown } {
  const { error, code, userMessage } = reply.body;
  for (const text of [error, code, userMessage])
    if (typeof text !== 'string' || text === '') throw new Error(`not an error body: ${reply.text}`);
  return { status: reply.status, code };
}
