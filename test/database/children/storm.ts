/**
 * Works on PostgreSQL in many tasks while back ends are terminated all the time; prints a JSON summary. Every failure must be
 * `Unavailable`, and work must succeed again afterwards.
 */
import { randomInt } from 'node:crypto';
import { installDriverGuard } from '../../../src/database/faults.ts';
import { openExternal } from '../../../src/database/open.ts';
import { Unavailable } from '../../../src/kernel/errors.ts';

const [url = '', seconds = '3'] = process.argv.slice(2);
const tally = { done: 0, unavailable: 0, faults: 0, other: [] as string[], afterwards: 0 };
installDriverGuard({ onFault: () => (tally.faults += 1) });

const database = openExternal({ url, maxConnections: 5 });
const killer = openExternal({ url, maxConnections: 1, deadlineMs: 60_000 });
const until = Date.now() + Number(seconds) * 1000;

async function once(): Promise<void> {
  const filler = 'x'.repeat(randomInt(3_000));
  if (randomInt(4) === 0) {
    await database.run((sql) => sql`select ${filler}::text`);
  } else {
    await database.transaction(async (sql) => {
      await sql`select ${filler}::text, pg_sleep(0.001)`;
      await Promise.all([sql`select 1`, sql`select ${filler}::text`]);
    });
  }
}

async function task(): Promise<void> {
  while (Date.now() < until) {
    try {
      await once();
      tally.done += 1;
    } catch (error) {
      if (error instanceof Unavailable) {
        tally.unavailable += 1;
      } else {
        tally.other.push(String(error));
      }
    }
  }
}

/** A back end may learn late that it was terminated, and the driver reports that to the next caller: recovery may take some seconds. */
async function onceRecovered(): Promise<void> {
  for (;;) {
    try {
      return await once();
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
    }
  }
}

async function kill(): Promise<void> {
  while (Date.now() < until) {
    await killer.run(
      (sql) => sql`select pg_terminate_backend(pid) from pg_stat_activity
        where pid <> pg_backend_pid() and backend_type = 'client backend' order by random() limit 1`,
    );
    await new Promise((resolve) => setTimeout(resolve, randomInt(5, 30)));
  }
}

await Promise.all([kill(), ...Array.from({ length: 12 }, task)]);
await new Promise((resolve) => setTimeout(resolve, 500));
await Promise.all(
  Array.from({ length: 50 }, async () => {
    await onceRecovered();
    tally.afterwards += 1;
  }),
);
console.log(JSON.stringify(tally));
await database.close();
await killer.close();
