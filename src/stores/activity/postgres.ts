import type { Database } from '../../database/database.ts';
import type { ActivityStore, KeyCounted, Moved } from './contract.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Activity in PostgreSQL. Rows are added to in the order of their key, so that nodes which share a shard cannot wait for each other in a ring. */
export function createPostgresActivity(database: Database): ActivityStore {
  return {
    async add(counted, atMs, shard) {
      if (counted.length === 0) return;
      const [minute, hour] = [atMs - (atMs % MINUTE_MS), atMs - (atMs % HOUR_MS)];
      await database.run(
        (sql) => sql`
          insert into activity (span, bucket_ms, kind, label, tenant_id, key_id, shard, n)
          select span, bucket_ms, kind, label, "tenantId", "keyId", ${shard}, sum(n)::int8
          from json_to_recordset(${JSON.stringify(counted)}::text::json) as given (kind text collate "C",
              label text collate "C", "tenantId" text collate "C", "keyId" text collate "C", n bigint),
            (values (1, ${minute}::int8), (60, ${hour}::int8)) as bucket (span, bucket_ms)
          group by span, bucket_ms, kind, label, "tenantId", "keyId"
          order by span, bucket_ms, kind, label, "tenantId", "keyId"
          on conflict (span, bucket_ms, kind, label, tenant_id, key_id, shard) do update set n = activity.n + excluded.n`,
      );
    },

    async sums(span, fromMs, midMs, toMs, { tenants, keyId, shard }) {
      const rows = await database.run(
        (sql) => sql<Moved[]>`
          select kind, label, coalesce(sum(n) filter (where bucket_ms >= ${midMs}), 0)::int8 as now,
            coalesce(sum(n) filter (where bucket_ms < ${midMs}), 0)::int8 as before
          from activity
          where span = ${span} and bucket_ms >= ${fromMs} and bucket_ms < ${toMs}
            ${tenants === '*' ? sql`` : sql`and tenant_id = any(${[...tenants]}::text[])`}
            ${keyId === undefined ? sql`` : sql`and key_id = ${keyId}`}
            ${shard === undefined ? sql`` : sql`and shard = ${shard}`}
          group by kind, label order by kind, label`,
      );
      return [...rows];
    },

    async ofKeys(kind, span, fromMs, toMs, tenants) {
      const rows = await database.run(
        (sql) => sql<KeyCounted[]>`
          select tenant_id as "tenantId", key_id as "keyId", label, sum(n)::int8 as n
          from activity
          where span = ${span} and bucket_ms >= ${fromMs} and bucket_ms < ${toMs} and kind = ${kind} and key_id <> ''
            ${tenants === '*' ? sql`` : sql`and tenant_id = any(${[...tenants]}::text[])`}
          group by tenant_id, key_id, label order by tenant_id, key_id, label`,
      );
      return [...rows];
    },
  };
}
