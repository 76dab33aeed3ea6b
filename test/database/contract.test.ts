import postgres from 'postgres';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { Unavailable } from '../../src/kernel/errors.ts';
import { describeEngines, type OpenedEngine } from './support/engines.ts';

const total = async (database: Database): Promise<number> => {
  const rows = await database.run((sql) => sql<{ total: number }[]>`select count(*) as total from item`);
  return rows[0]?.total ?? -1;
};

describeEngines('the database', (open) => {
  let opened: OpenedEngine;
  let database: Database;

  beforeAll(async () => {
    opened = await open();
    ({ database } = opened);
    await database.run((sql) => sql`create table item (id integer primary key, text text, amount int8)`);
  });
  afterAll(() => opened.close());
  beforeEach(async () => {
    await database.run((sql) => sql`truncate item`);
  });

  test('answers a ping', async () => {
    await expect(database.ping()).resolves.toBeUndefined();
  });

  test('keeps what a transaction wrote when it resolves, and returns its value', async () => {
    const value = await database.transaction(async (sql) => {
      await sql`insert into item (id) values (1)`;
      return ['kept'];
    });
    expect(value).toEqual(['kept']);
    expect(await total(database)).toBe(1);
  });

  test('forgets what a transaction wrote when it rejects, and throws that error', async () => {
    const fault = new Error('changed my mind');
    const outcome = database.transaction(async (sql) => {
      await sql`insert into item (id) values (1)`;
      throw fault;
    });
    await expect(outcome).rejects.toBe(fault);
    expect(await total(database)).toBe(0);
  });

  test('passes errors of the SQL through as they are', async () => {
    const twice = database.run((sql) => sql`insert into item (id) values (1), (1)`);
    await expect(twice).rejects.toMatchObject({ code: '23505', constraint_name: 'item_pkey' });
    await expect(database.run((sql) => sql`selec 1`)).rejects.toBeInstanceOf(postgres.PostgresError);
    expect(await total(database)).toBe(0);
  });

  test('keeps sixty concurrent transactions apart although a third of them fail', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 60 }, (_, id) =>
        database.transaction(async (sql) => {
          await sql`insert into item (id) values (${id})`;
          await sql`insert into item (id) values (${id + 1_000})`;
          if (id % 3 === 0) {
            await sql`select 1 / 0`;
          }
        }),
      ),
    );
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(20);
    expect(await total(database)).toBe(80);
  });

  test('compiles nothing in a transaction, however expensive the query looks', async () => {
    const plan = await database.transaction(async (sql) => {
      await sql`set local jit_above_cost = 0`;
      return sql`explain (analyze) select sum(n) from generate_series(1, 10) as n`;
    });
    const lines = plan.map((row) => String(Object.values(row)[0]));
    expect(lines.join('\n')).toMatch(/Execution Time/);
    expect(lines.filter((line) => line.startsWith('JIT'))).toEqual([]);
  });

  test('rolls a savepoint back without losing the rest', async () => {
    await database.transaction(async (sql) => {
      await sql`insert into item (id) values (1)`;
      await sql.savepoint((inner) => inner`insert into item (id) values (1)`).catch(() => {});
      await sql`insert into item (id) values (2)`;
    });
    expect(await total(database)).toBe(2);
  });

  test('returns text in every script unchanged', async () => {
    const text = 'Zoë — 山田 — עברית — 👩🏽‍🚀 — \u{10FFFF} — \t\n\\\'"';
    await database.run((sql) => sql`insert into item (id, text) values (1, ${text})`);
    expect(await database.run((sql) => sql`select text from item`)).toEqual([{ text }]);
  });

  test('refuses a NUL character with an error and goes on', async () => {
    const outcome = database.run((sql) => sql`insert into item (id, text) values (1, ${'a\0b'})`);
    await expect(outcome).rejects.toMatchObject({ code: '22021' });
    expect(await total(database)).toBe(0);
  });

  test('reads int8 as a number, also in arrays and counts', async () => {
    await database.run((sql) => sql`insert into item (id, amount) values (1, ${Number.MAX_SAFE_INTEGER})`);
    const rows = await database.run(
      (sql) => sql`select amount, array[1::int8, 2] as list, sum(amount)::int8 from item group by 1`,
    );
    expect(rows[0]).toEqual({ amount: Number.MAX_SAFE_INTEGER, list: [1, 2], sum: Number.MAX_SAFE_INTEGER });
  });

  test('carries arrays of text, int4 and int8, with nulls, quotes and nothing in them', async () => {
    const texts = ['', 'NULL', 'a"b\\c', '{x,y}', ' 山田 ', 'line\nbreak'];
    const rows = await database.run(
      (sql) => sql`select ${texts}::text[] as texts, ${[]}::text[] as none, ${['a', null]}::text[] as gaps,
        ${[1, -2]}::int[] as ints, ${[2 ** 40, null]}::bigint[] as bigints`,
    );
    expect(rows[0]).toEqual({ texts, none: [], gaps: ['a', null], ints: [1, -2], bigints: [2 ** 40, null] });
  });

  test('refuses to round an int8 beyond what a number holds, and goes on', async () => {
    await database.run((sql) => sql`insert into item (id, amount) values (1, ${2n ** 53n})`);
    await expect(database.run((sql) => sql`select amount from item`)).rejects.toThrow('9007199254740992');
    expect(await total(database)).toBe(1);
  });

  test('throws Unavailable at the deadline and serves the next caller', async () => {
    const never = new Promise<void>(() => {});
    const outcome = database.transaction(
      async (sql) => {
        await sql`insert into item (id) values (1)`;
        await never;
      },
      { deadlineMs: 300 },
    );
    await expect(outcome).rejects.toBeInstanceOf(Unavailable);
    await expect.poll(() => total(database)).toBe(0);
    await database.run((sql) => sql`insert into item (id) values (1)`);
  });

  test('sends large values both ways', async () => {
    const text = 'ü'.repeat(2_000_000);
    const rows = await database.run((sql) => sql<{ text: string }[]>`select ${text}::text as text`);
    expect(rows[0]?.text === text).toBe(true);
  });

  test('moves a thousand rows in one statement', async () => {
    const ids = Array.from({ length: 1_000 }, (_, id) => id);
    await database.run((sql) => sql`insert into item (id, amount) select * from unnest(${ids}::int[], ${ids}::int8[])`);
    expect(await total(database)).toBe(1_000);
  });
});

describeEngines('closing the database', (open) => {
  test('lets running work finish, then throws Unavailable, and may be repeated', async () => {
    const { database, close } = await open();
    const running = database.run((sql) => sql`select 1 as one`);
    await Promise.all([database.close(), database.close()]);
    expect(await running).toEqual([{ one: 1 }]);
    await expect(database.ping()).rejects.toBeInstanceOf(Unavailable);
    await close();
  });
});
