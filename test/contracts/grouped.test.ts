import { expect, test } from 'vitest';
import { Unavailable } from '../../src/kernel/errors.ts';
import { grouped } from '../../src/kernel/async.ts';

/** A group that is being processed until the test decides how it ends. */
interface Group {
  readonly items: readonly number[];
  readonly succeed: () => void;
  readonly fail: (error: unknown) => void;
}

function createWork() {
  const groups: Group[] = [];
  return {
    run: (items: readonly number[]) =>
      new Promise<string[]>((resolve, reject) => {
        groups.push({ items, succeed: () => resolve(items.map(String)), fail: reject });
      }),
    items: () => groups.map((group) => group.items),
    last: () => groups.at(-1) as Group,
  };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test('requests of one turn form a group, and so do those that arrive during the work; each gets its own answer', async () => {
  const work = createWork();
  const ask = grouped(work.run, 10);
  const first = [ask(1), ask(2)];
  await settle();
  const later = [ask(3)];
  await settle();
  later.push(ask(4), ask(5));
  for (const group of [
    [1, 2],
    [3, 4, 5],
  ]) {
    expect(work.last().items).toEqual(group);
    work.last().succeed();
    await settle();
  }
  expect(await Promise.all([...first, ...later])).toEqual(['1', '2', '3', '4', '5']);
  expect(work.items()).toHaveLength(2);
});

test('a group is never larger than allowed', async () => {
  const work = createWork();
  const ask = grouped(work.run, 2);
  const answers = Promise.all([ask(1), ask(2), ask(3)]);
  for (const group of [[1, 2], [3]]) {
    await settle();
    expect(work.last().items).toEqual(group);
    work.last().succeed();
  }
  expect(await answers).toEqual(['1', '2', '3']);
});

test('when the database is away, waiting requests are refused as well, and the next one is tried afresh', async () => {
  const work = createWork();
  const ask = grouped(work.run, 10);
  const first = ask(1);
  await settle();
  const refused = Promise.allSettled([first, ask(2), ask(3)]);
  work.last().fail(new Unavailable('database'));
  expect((await refused).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(work.items()).toEqual([[1]]);
  const next = ask(4);
  await settle();
  work.last().succeed();
  expect(await next).toBe('4');
});

test('any other fault is narrowed down, so that only its own item fails', async () => {
  const fault = new Error('bad text');
  const ask = grouped(async (items: readonly number[]) => {
    await settle();
    if (items.includes(3)) throw fault;
    return items.map(String);
  }, 10);
  const settled = await Promise.allSettled([1, 2, 3, 4, 5, 6, 7].map((item) => ask(item)));
  const answers = settled.map((each) => (each.status === 'fulfilled' ? each.value : each.reason));
  expect(answers).toEqual(['1', '2', fault, '4', '5', '6', '7']);
});

test('when the database goes away while a fault is narrowed down, all remaining requests are refused', async () => {
  const work = createWork();
  const ask = grouped(work.run, 10);
  const refused = Promise.allSettled([1, 2, 3, 4].map((item) => ask(item)));
  await settle();
  work.last().fail(new Error('bad text'));
  await settle();
  expect(work.last().items).toEqual([1, 2]);
  work.last().fail(new Unavailable('database'));
  const statuses = (await refused).map(({ status }) => status);
  expect(statuses).toEqual(['rejected', 'rejected', 'rejected', 'rejected']);
  expect(work.items()).toHaveLength(2);
});
