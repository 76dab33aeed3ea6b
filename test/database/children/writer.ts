/**
 * Opens the embedded database in the directory of the first argument, prints `open`, then inserts rows for ever, singly and in
 * transactions, and prints each number once its insert is acknowledged.
 */
import { openEmbedded } from '../../../src/database/embedded/embedded.ts';

const [directory = '', template = ''] = process.argv.slice(2);
const fillerOf = (id: number): string => 'x'.repeat(id % 3_000);
process.stdin.once('end', () => process.exit()).resume();

try {
  const database = await openEmbedded({ directory, template: new URL(template) });
  console.log('open');
  await database.run((sql) => sql`create table if not exists line (id integer primary key, filler text not null)`);
  const rows = await database.run((sql) => sql<{ next: number }[]>`select coalesce(max(id), 0) + 1 as next from line`);
  for (let id = rows[0]?.next ?? 1; ; id += 2) {
    await database.run((sql) => sql`insert into line values (${id}, ${fillerOf(id)})`);
    console.log(id);
    await database.transaction((sql) => sql`insert into line values (${id + 1}, ${fillerOf(id + 1)})`);
    console.log(id + 1);
  }
} catch (error) {
  console.error(error instanceof Error ? `${error.name}: ${error.message}` : error);
  process.exit(1);
}
