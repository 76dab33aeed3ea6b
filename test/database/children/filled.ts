/**
 * Opens the embedded database in the directory of the first argument, and fills its disk (test/support/full-disk.mjs) before each kind of
 * write. Prints how each was refused, and `back` once there is room again and it succeeds.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { openEmbedded } from '../../../src/database/embedded/embedded.ts';

const [directory = '', template = ''] = process.argv.slice(2);
const flag = process.env['FULL_DISK'] ?? '';
process.stdin.once('end', () => process.exit()).resume();

const database = await openEmbedded({ directory, template: new URL(template), deadlineMs: 600_000 });
await database.run((sql) => sql`create table line (id integer)`);
const writes = {
  alone: () => database.run((sql) => sql`insert into line values (1)`),
  inTransaction: () => database.transaction((sql) => sql`insert into line values (2)`),
  severalAtOnce: () =>
    Promise.all([3, 4].map((id) => database.transaction((sql) => sql`insert into line values (${id})`))),
};
for (const [kind, write] of Object.entries(writes)) {
  writeFileSync(flag, 'all');
  console.log(
    kind,
    await write().then(
      () => 'done',
      (error: Error) => error.name,
    ),
  );
  rmSync(flag);
  while (
    !(await write().then(
      () => true,
      () => false,
    ))
  )
    await wait(100);
  console.log('back');
}
await database.close();
process.exit();
