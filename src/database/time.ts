import type { Database } from './database.ts';

/** The database's time, in milliseconds since the Unix epoch. @throws Unavailable when it is away */
export async function timeMs(database: Database): Promise<number> {
  const [row] = await database.run(
    (sql) => sql<{ ms: number }[]>`select (extract(epoch from clock_timestamp()) * 1000)::int8 as ms`,
  );
  if (row === undefined) throw new Error('the database told no time');
  return row.ms;
}
