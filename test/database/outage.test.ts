import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { installDriverGuard } from '../../src/database/faults.ts';
import { openExternal } from '../../src/database/open.ts';
import { Unavailable } from '../../src/kernel/errors.ts';
import { PATIENT_MS } from '../support/soon.ts';
import { reasonToSkipPostgres, startPostgres, type PostgresService } from '../support/services/postgres.ts';
import { bundleChild, runChild } from './support/child.ts';
import { startWay } from './support/way.ts';

const missing = reasonToSkipPostgres();

/** The error with which the promise was rejected, if it was. */
function errorOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
}

async function onOne<T>({ url }: PostgresService, statement: string): Promise<T[]> {
  const one = openExternal({ url, maxConnections: 1, deadlineMs: PATIENT_MS });
  const rows = await one.run((sql) => sql.unsafe(statement));
  await one.close();
  return [...rows] as T[];
}

/** As in `main`: the driver's one fault that the service survives does not end a test run either. Every other fault goes on to Vitest. */
function guardDriver(): () => void {
  const listeners = process.listeners('uncaughtException');
  for (const listener of listeners) process.off('uncaughtException', listener);
  const onOther = (error: unknown): void => {
    for (const listener of listeners) listener(error as Error, 'uncaughtException');
  };
  const remove = installDriverGuard({ onOther });
  return () => {
    remove();
    for (const listener of listeners) process.on('uncaughtException', listener);
  };
}

/** Resolves when a statement succeeds; how soon that is also depends on how busy the machine is. */
async function recovery(database: Database, statement = 'select 1'): Promise<void> {
  while ((await errorOf(database.run((sql) => sql.unsafe(statement)))) !== undefined);
}

/** Resolves when all five connections of the pool have answered. */
async function recoveryOfAll(database: Database): Promise<void> {
  await Promise.all(Array.from({ length: 5 }, () => recovery(database, 'select pg_sleep(0.05)')));
}

/** Repeats the work until something else has happened. */
async function repeat(work: () => Promise<unknown>, until: Promise<unknown>): Promise<void> {
  const isOver = until.then(() => true);
  while (!(await Promise.race([isOver, work().then(() => false)])));
}

describe.skipIf(missing !== undefined)(
  `an external database that is away${missing === undefined ? '' : ` (${missing})`}`,
  () => {
    let server: PostgresService;
    /** With the deadlines of the service. */
    let database: Database;
    /** With a long deadline, for what does not depend on time. */
    let patient: Database;

    let stopGuarding: () => void;

    beforeAll(async () => {
      stopGuarding = guardDriver();
      server = await startPostgres();
    });
    afterAll(async () => {
      await server.stop();
      stopGuarding();
    });
    beforeEach(async () => {
      database = openExternal({ url: server.url, maxConnections: 5 });
      patient = openExternal({ url: server.url, maxConnections: 5, deadlineMs: PATIENT_MS });
      await recoveryOfAll(database);
    });
    afterEach(async () => {
      server.thaw();
      await database.close();
      await patient.close();
    });

    test('is Unavailable while it is frozen, for every caller, and serves again after the thaw', async () => {
      const state = { isFrozen: false };
      const inTransaction = (async () => {
        let error: unknown;
        // A transaction that missed its own deadline froze nothing; then tries again.
        while (!state.isFrozen)
          error = await errorOf(
            database.transaction(async (sql) => {
              await sql`select 1`;
              server.freeze();
              state.isFrozen = true;
              await sql`select 2`;
            }),
          );
        return error;
      })();
      await expect.poll(() => state.isFrozen).toBe(true);
      for (let round = 0; round < 3; round += 1) {
        const work = [
          database.ping(),
          ...Array.from({ length: 30 }, () => database.transaction((sql) => sql`select 1`)),
        ];
        for (const error of await Promise.all(work.map(errorOf))) expect(error).toBeInstanceOf(Unavailable);
      }
      expect(await inTransaction).toBeInstanceOf(Unavailable);
      server.thaw();
      await recoveryOfAll(database);
      const ask = (): Promise<unknown> => database.run((sql) => sql`select 1`, { deadlineMs: PATIENT_MS });
      const after = await Promise.all(Array.from({ length: 30 }, () => errorOf(ask())));
      expect(after.filter((error) => error !== undefined)).toEqual([]);
    });

    test('leaves no connection behind after a thaw', async () => {
      const own = openExternal({ url: server.url, maxConnections: 5, idleMs: 500 });
      onTestFinished(() => own.close());
      await database.close();
      await patient.close();
      await recoveryOfAll(own);
      server.freeze();
      await Promise.all(Array.from({ length: 20 }, () => errorOf(own.ping())));
      await Promise.all(Array.from({ length: 20 }, () => errorOf(own.ping())));
      server.thaw();
      await recovery(own);
      const connections = async (): Promise<number> => {
        const rows = await onOne<{ total: number }>(
          server,
          "select count(*) as total from pg_stat_activity where application_name = 'switchboard' and pid <> pg_backend_pid()",
        );
        return rows[0]?.total ?? 0;
      };
      // Unused connections are closed; any that the pool forgot during the outage would stay.
      await expect.poll(connections).toBe(0);
    });

    test('is Unavailable while it restarts and serves again afterwards', async () => {
      const restarting = server.restart();
      const error = await errorOf(
        Promise.all(Array.from({ length: 10 }, () => database.run((sql) => sql`select pg_sleep(0.5)`))),
      );
      expect(error).toBeInstanceOf(Unavailable);
      await restarting;
      await recovery(database);
    });

    test('is Unavailable where no server listens', async () => {
      const nowhere = openExternal({ url: 'postgres://postgres@127.0.0.1:1/postgres', deadlineMs: PATIENT_MS });
      const error = await errorOf(nowhere.ping());
      expect(error).toBeInstanceOf(Unavailable);
      expect((error as Error).cause).toMatchObject({ code: 'ECONNREFUSED' });
      await nowhere.close();
    });

    test('is Unavailable, with the reason, when it refuses the login', async () => {
      const stranger = openExternal({
        url: server.url.replace('/postgres@', '/nobody@').replace('postgres://postgres', 'postgres://nobody'),
        deadlineMs: PATIENT_MS,
      });
      const error = await errorOf(stranger.ping());
      expect(error).toBeInstanceOf(Unavailable);
      expect((error as Error).cause).toMatchObject({ code: '28000' });
      await stranger.close();
    });

    test.each(['40001', '40P01', '53100', '53200', '58030', '58P01'])(
      'is Unavailable when it undoes the work with %s',
      async (code) => {
        const error = await errorOf(
          patient.run((sql) => sql.unsafe(`do $$ begin raise exception 'undone' using errcode = '${code}'; end $$`)),
        );
        expect(error).toBeInstanceOf(Unavailable);
      },
    );

    test('counts as failing after one write for which its disk has no room, however much else it answers', async () => {
      const full = "do $$ begin raise exception 'could not extend file' using errcode = '53100'; end $$";
      expect(await errorOf(patient.run((sql) => sql.unsafe(full)))).toBeInstanceOf(Unavailable);
      await Promise.all(Array.from({ length: 5 }, () => patient.ping()));
      expect(patient.health.failure()).toMatchObject({ code: '53100' });
    });

    test('does not count as failing because of work that lost a conflict or was wrong', async () => {
      for (const code of ['40001', '40P01', '23505']) {
        const statement = `do $$ begin raise exception 'undone' using errcode = '${code}'; end $$`;
        for (let n = 0; n < 5; n += 1) expect(await errorOf(patient.run((sql) => sql.unsafe(statement)))).toBeDefined();
      }
      expect(patient.health.failure()).toBeUndefined();
    });

    test('is written to again when it takes no more writes and another server has taken its place', async () => {
      const next = await startPostgres();
      const way = await startWay(server.url);
      const node = openExternal({ url: way.url, maxConnections: 3, deadlineMs: PATIENT_MS });
      const write = (): Promise<unknown> => errorOf(node.run((sql) => sql`insert into written values (1)`));
      for (const one of [server, next]) await onOne(one, 'create table written (id integer)');
      for (const error of await Promise.all([write(), write(), write()])) expect(error).toBeUndefined();
      await onOne(server, 'alter system set default_transaction_read_only = on');
      await onOne(server, 'select pg_reload_conf()');
      await expect.poll(write).toBeInstanceOf(Unavailable);

      way.lead(next.url);
      while ((await write()) !== undefined);

      await onOne(server, 'alter system reset default_transaction_read_only');
      await onOne(server, 'select pg_reload_conf()');
      await node.close();
      await way.close();
      await next.stop();
    });

    test('reports the end of a connection only to those whose work was on it', async () => {
      const working = Promise.all(
        Array.from({ length: 5 }, () => errorOf(patient.run((sql) => sql`select pg_sleep(61)`))),
      );
      await repeat(
        () =>
          onOne(
            server,
            "select pg_terminate_backend(pid) from pg_stat_activity where query like '%pg_sleep(61)%' and pid <> pg_backend_pid() and state = 'active'",
          ),
        working,
      );
      for (const error of await working) expect(error).toBeInstanceOf(Unavailable);
      await recovery(patient);
      for (let round = 0; round < 3; round += 1)
        for (const error of await Promise.all(Array.from({ length: 10 }, () => errorOf(patient.ping()))))
          expect(error).toBeUndefined();
    });

    test('is Unavailable when it has no connection left', async () => {
      const crowd = openExternal({ url: server.url, maxConnections: 250, deadlineMs: 5_000 });
      const outcomes = await Promise.allSettled(
        Array.from({ length: 250 }, () => crowd.transaction((sql) => sql`select pg_sleep(0.5)`)),
      );
      const reasons = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as Error] : []));
      expect(reasons.length).toBeGreaterThan(0);
      expect(reasons.filter((reason) => !(reason instanceof Unavailable))).toEqual([]);
      await crowd.close();
      await recovery(database);
    });

    test('does not go on with a statement of a transaction that its caller has abandoned', async () => {
      await onOne(server, 'create table if not exists given_up (id integer)');
      const error = await errorOf(
        database.transaction(
          async (sql) => {
            await sql`insert into given_up values (1)`;
            await sql`select pg_sleep(60)`;
          },
          { deadlineMs: 200 },
        ),
      );
      expect(error).toBeInstanceOf(Unavailable);
      const busy = async (): Promise<number> => {
        const rows = await onOne<{ total: number }>(
          server,
          "select count(*) as total from pg_stat_activity where query like '%pg_sleep(60)%' and pid <> pg_backend_pid() and state <> 'idle'",
        );
        return rows[0]?.total ?? 0;
      };
      await expect.poll(busy).toBe(0);
      expect(await onOne(server, 'select * from given_up')).toEqual([]);
    });

    test('keeps serving others while one statement is slow', async () => {
      const slow = errorOf(patient.run((sql) => sql`select pg_sleep(100)`, { deadlineMs: 800 }));
      await repeat(() => patient.ping(), slow);
      expect(await slow).toBeInstanceOf(Unavailable);
      for (let n = 0; n < 40; n += 1) await patient.ping();
      // The statement is still running: nobody waited for it.
      const ended = await onOne(
        server,
        "select pg_terminate_backend(pid) from pg_stat_activity where query like '%pg_sleep(100)%' and pid <> pg_backend_pid() and state = 'active'",
      );
      expect(ended).toHaveLength(1);
    });

    test('never ends the process by terminating back ends, and every failure is Unavailable', async () => {
      const child = runChild(await bundleChild('storm'), server.url, '3');
      expect([await child.ended(), child.errors()]).toEqual([0, '']);
      const tally = JSON.parse(child.output()) as {
        done: number;
        unavailable: number;
        other: string[];
        afterwards: number;
      };
      expect(tally).toMatchObject({ other: [], afterwards: 50 });
      expect(tally.unavailable).toBeGreaterThan(0);
      expect(tally.done).toBeGreaterThan(0);
    });
  },
);

describe.skipIf(missing !== undefined)('the guard of the driver', () => {
  let server: PostgresService;
  let file: string;

  beforeAll(async () => {
    server = await startPostgres();
    file = await bundleChild('terminated');
  });
  afterAll(() => server.stop());

  test('is still needed: the fault ends a process without it', async () => {
    const child = runChild(file, server.url, 'bare');
    expect(await child.ended()).not.toBe(0);
    expect(child.errors()).toContain('nextWrite');
  });

  test('keeps the process alive', async () => {
    const child = runChild(file, server.url, 'guarded');
    expect([await child.ended(), child.errors()]).toEqual([0, '']);
    expect(child.output()).toContain('guarded');
    expect(child.output()).toContain('survived');
  });

  test('lets every other fault end the process, even one with the same message', async () => {
    const child = runChild(file, server.url, 'other');
    expect(await child.ended()).not.toBe(0);
    expect(child.output()).not.toContain('survived');
  });
});
