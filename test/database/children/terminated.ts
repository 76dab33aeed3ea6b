/**
 * Provokes the driver's fault with the guard (`guarded`) or without it (`bare`), or another fault with the guard (`other`):
 * terminates the back end of a running transaction, then queries on that transaction.
 */
import postgres from 'postgres';
import { installDriverGuard } from '../../../src/database/faults.ts';

const [url = '', mode = ''] = process.argv.slice(2);
if (mode !== 'bare') {
  installDriverGuard({ onFault: () => console.log('guarded') });
}
if (mode === 'other') {
  setImmediate(() => {
    throw new TypeError("Cannot read properties of null (reading 'write')");
  });
}

const victim = postgres(url, { max: 1 });
const killer = postgres(url, { max: 1 });
try {
  await victim.begin(async (sql) => {
    const rows = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
    await killer`select pg_terminate_backend(${rows[0]?.pid ?? 0})`;
    await new Promise((resolve) => setTimeout(resolve, 200));
    await sql`select 1`;
  });
} catch (error) {
  console.log(error instanceof Error ? error.message : error);
}
await new Promise((resolve) => setTimeout(resolve, 500));
console.log('survived');
process.exit();
