import type { Database, Sql } from '../../database/database.ts';
import { MINUTE_MS } from '../../kernel/time.ts';
import type { NodeRun, NodeRuns } from './contract.ts';

/** Processes in PostgreSQL. */
export function createPostgresNodeRuns(database: Database): NodeRuns {
  return {
    async started({ prefix, node, host, version, configHash, shard, startedAtMs }) {
      await database.run(
        (sql) => sql`
          insert into node_run (prefix, node, host, version, config_hash, shard, started_at_ms)
          values (${prefix}, ${node}, ${host}, ${version}, ${configHash}, ${shard}, ${startedAtMs})
          on conflict (prefix) do nothing`,
      );
    },

    async stopped(prefix, atMs) {
      await database.run((sql) => sql`update node_run set stopped_at_ms = ${atMs} where prefix = ${prefix}`);
    },

    async noteRequests(prefix, requests, atMs) {
      await database.run(
        (sql) => sql`
          insert into node_minute (prefix, minute_ms, requests, at_ms)
          values (${prefix}, ${atMs - (atMs % MINUTE_MS)}, ${requests}, ${atMs})
          on conflict (prefix, minute_ms) do update
          set requests = greatest(node_minute.requests, excluded.requests), at_ms = greatest(node_minute.at_ms, excluded.at_ms)`,
      );
    },

    async timeOf(prefix, request) {
      const [row] = await database.run(
        (sql) => sql<(NodeRun & { fromMs: number; toMs: number })[]>`
          select ${columns(sql)}, coalesce((
              select max(before.at_ms) from node_minute before
              where before.prefix = run.prefix and before.minute_ms < here.minute_ms), run.started_at_ms) as "fromMs",
            here.at_ms as "toMs"
          from node_run run join lateral (
            select minute_ms, at_ms from node_minute
            where prefix = run.prefix and requests >= ${request} order by minute_ms limit 1) here on true
          where run.prefix = ${prefix}`,
      );
      if (row === undefined || request < 1) return undefined;
      const { fromMs, toMs, ...run } = row;
      return { run, fromMs, toMs };
    },

    async startedWithin(fromMs, toMs, limit) {
      const rows = await database.run(
        (sql) => sql<NodeRun[]>`
          select ${columns(sql)} from node_run run where started_at_ms >= ${fromMs} and started_at_ms <= ${toMs}
          order by started_at_ms desc limit ${limit}`,
      );
      return [...rows];
    },
  };
}

function columns(sql: Sql) {
  return sql`run.prefix, run.node, run.host, run.version, run.config_hash as "configHash", run.shard,
    run.started_at_ms as "startedAtMs", run.stopped_at_ms as "stoppedAtMs"`;
}
