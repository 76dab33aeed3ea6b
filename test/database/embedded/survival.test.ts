import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { openEmbedded } from '../../../src/database/embedded/embedded.ts';
import { Unavailable } from '../../../src/kernel/errors.ts';
import { bundleChild, runChild } from '../support/child.ts';
import { temporaryDirectory, template } from '../support/places.ts';
import { PATIENT_MS, soon } from '../../support/soon.ts';

describe('the embedded database', () => {
  test('loses no acknowledged row through kill -9', async () => {
    const directory = join(temporaryDirectory(), 'database');
    const writer = await bundleChild('writer');
    for (const count of [2, 200]) {
      const child = runChild(writer, directory, template.href);
      await child.printed(new RegExp(`^open\\n(?:\\d+\\n){${count}}`));
      await child.kill();
      const acknowledged = child.output().trim().split('\n').slice(1).map(Number);

      const database = await openEmbedded({ directory });
      const rows = await database.run(
        (sql) => sql<{ id: number; size: number }[]>`select id, length(filler) as size from line`,
      );
      await database.close();
      const kept = new Map(rows.map(({ id, size }) => [id, size]));
      expect(acknowledged.filter((id) => !kept.has(id))).toEqual([]);
      const damaged = [...kept].filter(([id, size]) => size !== id % 3_000);
      expect(damaged).toEqual([]);
    }
  });

  test('is Unavailable for any write while its log finds no room, and takes writes again when there is room', async () => {
    vi.stubEnv('NODE_OPTIONS', `--import ${new URL('../../support/full-disk.mjs', import.meta.url).href}`);
    vi.stubEnv('FULL_DISK', join(temporaryDirectory(), 'full'));
    onTestFinished(() => void vi.unstubAllEnvs());
    const child = runChild(await bundleChild('filled'), join(temporaryDirectory(), 'database'), template.href);
    await child.ended();
    expect(child.output().trim().split('\n')).toEqual(
      ['alone', 'inTransaction', 'severalAtOnce'].flatMap((kind) => [`${kind} Unavailable`, 'back']),
    );
  });

  test('is Unavailable as soon as its thread dies, for all waiting callers, and comes back by itself', async () => {
    // With this deadline only the death of the thread can make calls fail.
    const directory = join(temporaryDirectory(), 'database');
    const database = await openEmbedded({ directory, deadlineMs: 600_000 });
    await database.run((sql) => sql`create table kept (id integer)`);
    await database.run((sql) => sql`insert into kept values (1)`);

    const waiting = Promise.allSettled([
      // Signals that it has begun, and never ends.
      database.run(
        (sql) => sql`do $$ begin
          execute format('copy (select 1) to %L', current_setting('data_directory') || '/begun');
          loop end loop;
        end $$`,
      ),
      ...Array.from({ length: 20 }, () => database.transaction((sql) => sql`select 1`)),
    ]);
    await expect.poll(() => existsSync(join(directory, 'begun'))).toBe(true);
    await database.engine.kill();
    const reasons = (await waiting).map((outcome) =>
      outcome.status === 'rejected' ? (outcome.reason as unknown) : undefined,
    );
    expect(reasons[0]).toBeInstanceOf(Unavailable);
    expect(reasons.filter((reason) => reason !== undefined && !(reason instanceof Unavailable))).toEqual([]);

    await expect.poll(() => database.ping().then(() => 'back', String)).toBe('back');
    expect(await database.run((sql) => sql`select id from kept`)).toEqual([{ id: 1 }]);
    await database.close();
  });

  test('keeps nothing of a transaction whose caller has given up, although it has only one connection', async () => {
    const database = await openEmbedded({ directory: join(temporaryDirectory(), 'database'), deadlineMs: 300 });
    await database.run((sql) => sql`create table item (id integer)`, { deadlineMs: PATIENT_MS });
    const never = new Promise<void>(() => {});
    const outcome = database.transaction(async (sql) => {
      await sql`insert into item values (1)`;
      await sql`set local search_path = nowhere`;
      await sql`select pg_advisory_lock(1)`;
      await never;
    });
    await expect(outcome).rejects.toBeInstanceOf(Unavailable);
    // A database that was silent gets only a quarter of a second per call until it has answered once.
    await vi.waitFor(() => database.ping(), soon);
    expect(await database.run((sql) => sql`select * from item`, { deadlineMs: PATIENT_MS })).toEqual([]);
    const locks = await database.run((sql) => sql`select * from pg_locks where locktype = 'advisory'`, {
      deadlineMs: PATIENT_MS,
    });
    expect(locks).toEqual([]);
    await database.close();
  });

  test('does not stop the event loop while it works', async () => {
    const database = await openEmbedded({ directory: join(temporaryDirectory(), 'database'), deadlineMs: 30_000 });
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 5);
    await database.run((sql) => sql`select count(*), max(md5(n::text)) from generate_series(1, 300000) as n`);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(5);
    await database.close();
  });
});
