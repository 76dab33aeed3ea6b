import { MINUTE_MS } from '../../kernel/time.ts';
import type { Database } from '../../database/database.ts';
import { statementsOf } from '../../database/statements.ts';
import type { LiveNode, LiveNodes, RequestTimes } from './contract.ts';

/** The live nodes, in PostgreSQL. */
export function createPostgresLiveNodes(database: Database): LiveNodes {
  const { query, write, some } = statementsOf(database);
  return {
    renew: (node, untilMs, atMs) => query<LiveNode>`
      with renewed as (
        insert into live_node (node, until_ms) values (${node}, ${untilMs})
        on conflict (node) do update set until_ms = greatest(live_node.until_ms, excluded.until_ms))
      select node, until_ms from live_node where node <> ${node} and until_ms > ${atMs}`,

    leave: (node) => write`delete from live_node where node = ${node}`,

    hasOther: (node, atMs) => some`select 1 from live_node where node <> ${node} and until_ms > ${atMs} limit 1`,
  };
}

/** Times of request ids in PostgreSQL: one row for each minute. */
export function createPostgresRequestTimes(database: Database): RequestTimes {
  const { first, write } = statementsOf(database);
  return {
    note: (prefix, requests, atMs) => write`
      insert into node_minute (prefix, minute_ms, requests, at_ms)
      values (${prefix}, ${atMs - (atMs % MINUTE_MS)}, ${requests}, ${atMs})
      on conflict (prefix, minute_ms) do update
      set requests = greatest(node_minute.requests, excluded.requests), at_ms = greatest(node_minute.at_ms, excluded.at_ms)`,

    async of(prefix, request) {
      if (request < 1) return undefined;
      const row = await first<{ fromMs: number | null; toMs: number }>`
        select here.at_ms as "toMs", (
          select max(before.at_ms) from node_minute before
          where before.prefix = here.prefix and before.minute_ms < here.minute_ms) as "fromMs"
        from node_minute here
        where here.prefix = ${prefix} and here.requests >= ${request} order by here.minute_ms limit 1`;
      return row && { fromMs: row.fromMs ?? undefined, toMs: row.toMs };
    },
  };
}
