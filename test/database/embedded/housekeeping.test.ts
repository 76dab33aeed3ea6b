import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openEmbedded } from '../../../src/database/embedded/embedded.ts';
import { temporaryDirectory } from '../support/places.ts';

const SEGMENT_MB = 16;

test('the embedded database does not grow with updates', async () => {
  const directory = join(temporaryDirectory(), 'database');
  const database = await openEmbedded({ directory, housekeepingMs: 20, deadlineMs: 30_000 });
  await database.run(
    (sql) => sql`create table item (id integer primary key, version int8 not null, filler text not null)`,
  );
  await database.run((sql) => sql`create index on item (version)`);
  await database.run((sql) => sql`insert into item select n, n, repeat('x', 500) from generate_series(1, 4000) as n`);
  for (let round = 0; round < 40; round += 1) {
    await database.run((sql) => sql`update item set version = version + 1`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  const logMegabytes = (): number =>
    readdirSync(join(directory, 'pg_wal')).filter((name) => /^[0-9A-F]{24}$/.test(name)).length * SEGMENT_MB;
  await expect.poll(logMegabytes).toBeLessThanOrEqual(6 * SEGMENT_MB);
  const [table] = await database.run(
    (sql) => sql<{ megabytes: number }[]>`select pg_total_relation_size('item') / 1e6 as megabytes`,
  );
  expect(Number(table?.megabytes)).toBeLessThan(60);
  await database.close();
});
