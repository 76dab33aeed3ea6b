import { afterEach, test, vi } from 'vitest';
import { TestDatabase } from '../../support/test-database.ts';

afterEach(() => void vi.useRealTimers());

test('A database that is asked while a test controls time by hand answers then, and afterwards', async () => {
  const database = await TestDatabase.open();
  vi.useFakeTimers();
  await database.ping();
  vi.useRealTimers();
  await database.ping();
});
