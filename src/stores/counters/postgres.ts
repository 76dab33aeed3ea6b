import type { Database, Sql } from '../../database/database.ts';
import { statementsOf } from '../../database/statements.ts';
import { grouped } from '../../kernel/async.ts';
import type { Counters, CounterTake } from './contract.ts';

interface Ask {
  readonly key: string;
  readonly limit: number;
  readonly windowStartMs: number;
  readonly windowEndMs: number;
  readonly atMs: number;
}

/** Takes of one window under the same limit: they are counted in one step, and the first of them are admitted. */
interface Batch {
  readonly first: Ask;
  /** Their indexes in the group. */
  readonly takes: number[];
}

/** Fixed-window counters in PostgreSQL: takes that arrive together are counted together. */
export function createPostgresCounters(database: Database): Counters {
  const { value, write } = statementsOf(database);
  const take = grouped((asks: readonly Ask[]) => database.run((sql) => takeAll(sql, asks)));
  return {
    take(key, limit, windowMs, atMs) {
      const windowStartMs = atMs - (atMs % windowMs);
      return take({ key, limit, windowStartMs, windowEndMs: windowStartMs + windowMs, atMs });
    },

    async giveBack(counts) {
      if (counts.length === 0) return;
      // Locks rows in the same order as takes do, to avoid deadlocks.
      await write`
        update counter set count = greatest(0, counter.count - locked.taken) from (
          select kept.key, kept.window_start_ms, given.taken
          from (
            select asked.key, window_start, count(*)::integer as taken
            from unnest(${counts.map(({ key }) => key)}::text[],
              ${counts.map(({ windowStartMs }) => windowStartMs)}::bigint[]) as asked (key, window_start)
            group by asked.key, window_start
          ) as given
          join counter as kept on kept.key = given.key and kept.window_start_ms = given.window_start
          order by kept.key, kept.window_start_ms for update of kept
        ) as locked
        where counter.key = locked.key and counter.window_start_ms = locked.window_start_ms`;
    },

    async read(key, windowMs, atMs) {
      const count = await value<number | undefined>`
        select count from counter where key = ${key} and window_start_ms = ${atMs - (atMs % windowMs)}`;
      return count ?? 0;
    },

    clear: (key) => write`delete from counter where key = ${key}`,
  };
}

async function takeAll(sql: Sql, asks: readonly Ask[]): Promise<CounterTake[]> {
  const admitted = new Set<number>();
  let left = [...asks.keys()].filter((index) => (asks[index] as Ask).limit >= 1);
  while (left.length > 0) {
    const batches = new Map<string, Batch>();
    left = left.filter((index) => !join(batches, asks[index] as Ask, index));
    for (const { key, windowStartMs, granted } of await count(sql, [...batches.values()])) {
      const { takes } = batches.get(windowName(key, windowStartMs)) as Batch;
      for (const index of takes.slice(0, granted)) admitted.add(index);
    }
  }
  return asks.map(({ atMs, windowStartMs, windowEndMs }, index) => {
    const allowed = admitted.has(index);
    return { allowed, retryAtMs: allowed ? atMs : windowEndMs, windowStartMs };
  });
}

/** False if the window is already batched under another limit: a statement changes a row once, so this take waits for the next. */
function join(batches: Map<string, Batch>, ask: Ask, index: number): boolean {
  const name = windowName(ask.key, ask.windowStartMs);
  const batch = batches.get(name);
  if (batch === undefined) batches.set(name, { first: ask, takes: [index] });
  else if (batch.first.limit === ask.limit) batch.takes.push(index);
  else return false;
  return true;
}

function windowName(key: string, windowStartMs: number): string {
  return `${windowStartMs} ${key}`;
}

/**
 * Counts as many takes of each batch as the limit leaves; a batch of which none is admitted returns no row. A row is locked before its count is read,
 * so that no two statements see the same count, and rows are locked in order.
 */
function count(sql: Sql, batches: readonly Batch[]) {
  const all = <K extends keyof Ask>(field: K) => batches.map(({ first }) => first[field]);
  return sql<{ key: string; windowStartMs: number; granted: number }[]>`
    insert into counter as kept (key, window_start_ms, window_end_ms, allowance, count, granted)
    select key, window_start, window_end, allowance, least(wanted, allowance), least(wanted, allowance)
    from unnest(${all('key')}::text[], ${all('windowStartMs')}::bigint[], ${all('windowEndMs')}::bigint[],
      ${all('limit')}::integer[], ${batches.map(({ takes }) => takes.length)}::integer[])
      as asked (key, window_start, window_end, allowance, wanted)
    order by key collate "C", window_start
    on conflict (key, window_start_ms) do update set
      allowance = excluded.allowance,
      granted = least(excluded.granted, excluded.allowance - kept.count),
      count = kept.count + least(excluded.granted, excluded.allowance - kept.count)
      where kept.count < excluded.allowance
    returning key, window_start_ms, granted`;
}
